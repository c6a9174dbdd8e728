#!/usr/bin/perl
# UCI engine that attempts forbidden actions at its first `go`, and reports their results. Arguments:
# the home of the user who starts it, another program of the worker, a TCP port, a Unix socket, the process
# id of the worker, and the duration, in seconds, of the process that it leaves behind.
use strict;
use warnings;
use Errno;
use IO::Socket::INET;
use IO::Socket::UNIX;
use Socket;

$| = 1;
my ($home, $other, $port, $path, $worker, $sleep) = @ARGV;
# As a string, the number would be passed to system calls by its address.
$worker += 0;
my $status = contents("/proc/self/status") // "";

sub contents {
    open(my $file, '<', $_[0]) or return undef;
    local $/;
    return scalar <$file>;
}

sub reads { my $text = contents($_[0]); return defined $text && length $text > 0; }
sub lists { return opendir(my $folder, $_[0]) ? 1 : 0; }
sub writes { open(my $file, '>>', $_[0]) or return 0; return 1; }
# Calls a system function by its number on x86-64.
sub calls { my $answer = syscall($_[0], @_[1 .. $#_]); return $answer >= 0; }

my $net;
my @attempts = (
    ["read its own program", "", sub { reads($0) }],
    ["read libraries of the system", "", sub { reads("/usr/share/perl/$^V/strict.pm") || lists("/usr/lib") }],
    ["read which processor this is", "", sub { reads("/proc/cpuinfo") }],
    ["write in its own folder, and run what it wrote", "", sub {
        open(my $file, '>', "$ENV{HOME}/own") or return 0;
        print $file "#!/bin/sh\n";
        close $file;
        # The sandbox forbids changing modes; a shell needs no executable mode.
        return system("/bin/sh", "$ENV{HOME}/own") == 0;
    }],
    ["start processes and threads, as many as `--processes` allows", "", sub { system("/bin/true") == 0 }],
    ["find out whether a file is there, and how large", "", sub { -s "$home/secret" }],
    ["see a secret variable of the worker", "environment", sub { exists $ENV{ARBITER_NATS_PASSWORD} }],
    ["read a file in the home of the user", "Landlock", sub { reads("$home/secret") }],
    ["list the home of the user", "Landlock", sub { lists($home) }],
    ["write a file in the home of the user", "Landlock", sub { writes("$home/new") }],
    ["empty a file in the home of the user", "Landlock", sub { truncate("$home/victim", 0) }],
    ["remove a file in the home of the user", "Landlock", sub { unlink("$home/victim") }],
    ["change mode or time of a file in the home of the user", "seccomp", sub { chmod(0666, "$home/secret") || utime(1, 1, "$home/secret") }],
    ["hear which files of the user are opened", "seccomp", sub { my $queue = syscall(253); calls(254, $queue, $home, 0x20) }],
    ["read `/etc/passwd`", "Landlock", sub { reads("/etc/passwd") }],
    ["list `/tmp`", "Landlock", sub { lists("/tmp") }],
    ["write in `/tmp`", "Landlock", sub { my $new = "/tmp/arbiter-probe-$$"; writes($new) && unlink($new) }],
    ["read another program of the worker", "Landlock", sub { reads($other) }],
    ["change another program of the worker", "Landlock", sub { writes($other) }],
    ["change its own program", "Landlock", sub { writes($0) }],
    ["read a file that it was given by `\@FILE`", "", sub { reads($net) }],
    ["write, cut, replace, link, move or remove a file that it was given by `\@FILE`, also through the open file", "Landlock", sub {
        my $own = "$ENV{HOME}/copy";
        writes($own);
        open(my $file, '<', $net);
        return writes($net) || writes("/proc/self/fd/" . fileno($file)) || truncate($net, 0) || rename($own, $net)
            || link($net, "$ENV{HOME}/link") || rename($net, "$ENV{HOME}/moved") || unlink($net);
    }],
    ["list processes", "Landlock", sub { lists("/proc") }],
    ["read the command line of the worker", "Landlock", sub { reads("/proc/$worker/cmdline") }],
    ["read the environment of the worker", "Landlock", sub { reads("/proc/$worker/environ") }],
    ["open the memory of the worker", "Landlock", sub { open(my $file, '<', "/proc/$worker/mem") }],
    ["trace the worker", "seccomp", sub { calls(101, 0x4206, $worker, 0, 0) }],
    ["send the worker a signal", "namespace, Landlock", sub { kill(0, $worker) }],
    ["change the priority of the worker", "seccomp", sub { setpriority(0, $worker, getpriority(0, $worker)) }],
    ["change the limits of the worker", "seccomp", sub { calls(302, $worker, 4, pack("QQ", 0, 0), 0) }],
    ["connect to the NATS server", "seccomp, Landlock", sub { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") }],
    ["listen on a port", "seccomp, Landlock", sub { IO::Socket::INET->new(Listen => 1) }],
    ["send a datagram", "seccomp", sub { my $udp = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1:$port"); $udp && $udp->send("x") }],
    ["connect to a Unix socket", "seccomp", sub { IO::Socket::UNIX->new(Peer => $path) }],
    ["send a datagram to a socket of Unix by its path", "seccomp", sub {
        socketpair(my $own, my $peer, AF_UNIX, SOCK_DGRAM, 0) or return 0;
        return send($own, "x", 0, pack_sockaddr_un($path)) || 1;
    }],
    ["give a socket a name that other processes see", "seccomp", sub {
        socketpair(my $own, my $peer, AF_UNIX, SOCK_STREAM, 0) or return 0;
        return bind($own, pack_sockaddr_un("\0arbiter-probe-$$"));
    }],
    ["delay others that open its program (a lease)", "seccomp", sub { open(my $file, '<', $0) or return 0; return fcntl($file, 1024, 0); }],
    ["set flags of a file (immutable, append-only)", "seccomp", sub { writes("$ENV{HOME}/flagged"); open(my $file, '<', "$ENV{HOME}/flagged") or return 0; my $flags = pack("L", 0x40); ioctl($file, 0x40086602, $flags) }],
    ["list the connections of the machine", "Landlock", sub { reads("/proc/self/net/tcp") || reads("/proc/self/task/$$/net/tcp") }],
    ["read extended attributes of a file in the home of the user", "seccomp", sub { my $room = "\0" x 100; calls(191, "$home/secret", "user.x", $room, 100) || $!{ENODATA} }],
    ["read where a link in the home of the user leads", "", sub { defined readlink("$home/link") || $!{EINVAL} || $!{ENOENT} }],
    ["find out which processes there are, by trying numbers", "namespace", sub { -e "/proc/$worker" }],
    ["share memory with other processes", "seccomp", sub { defined shmget(0, 4096, 01600) }],
    ["mount a file system", "seccomp, capabilities", sub { calls(165, "none", "/no/such/folder", "tmpfs", 0, 0) || $!{ENOENT} }],
    ["make a namespace of its own", "seccomp", sub { calls(272, 0x10000000) || calls(272, 0x20000) }],
    ["gain privileges by a setuid program", "no_new_privs", sub { syscall(157, 39, 0, 0, 0, 0) == 0 }],
    ["have privileges of root", "capabilities", sub { $status !~ /CapEff:\s*0+\n/ }],
    ["use io_uring", "seccomp", sub { my $room = "\0" x 120; calls(425, 1, $room) }],
    ["read the log of the kernel", "seccomp", sub { calls(103, 10, 0, 0) }],
);

while (my $line = <STDIN>) {
    if ($line =~ /^uci\s/) {
        print "id name Probe\noption name Net type string default\nuciok\n";
    } elsif ($line =~ /^setoption name Net value (.*\S)/) {
        $net = $1;
    } elsif ($line =~ /^isready/) {
        print "readyok\n";
    } elsif ($line =~ /^quit/) {
        exit 0;
    } elsif ($line =~ /^go/) {
        for my $attempt (@attempts) {
            my ($what, $by, $try) = @$attempt;
            # Each attempt has a separate process, so that it does not affect later attempts.
            my $child = fork();
            if (defined $child && $child == 0) {
                my $is_done = eval { $try->() };
                require POSIX;
                POSIX::_exit($is_done ? 1 : 0);
            }
            waitpid($child, 0);
            my $answer = $? >> 8 ? "yes" : "no";
            print "info string | $what | $answer | $by |\n";
        }
        # This process has another parent, group and session, and an empty environment.
        system("setsid --fork env -i sleep $sleep");
        # No move is needed, because all attempts are done.
        print "bestmove 0000\n";
    }
}
