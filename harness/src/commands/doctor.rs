//! `arbiter doctor`: suitability of this machine for timed games.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::output::{OutputFormat, Rows, print_result};
use crate::suite_run::{answer, engine};
use crate::{engine_names::registered, exit_code::ExitCode, failure::Failure};
use arbiter_plan::{BUNDLED, find_program};
use arbiter_process::{CpuTimes, Machine, allowed_cpus};
use arbiter_report::{Table, to_value};

/// Duration of the measurement of processor load.
const WATCH: Duration = Duration::from_secs(1);

/// Maximum share of CPU time that other programs may use.
const MAX_BUSY: f64 = 0.1;
/// Maximum share of CPU time that the host of a virtual machine may take.
const MAX_STOLEN: f64 = 0.01;

/// Free memory required for each processor, in MiB, if each processor plays one game. Less memory
/// may cause swapping, which delays replies.
const GAME_MIB: u64 = 256;

/// Clock sources that are slow to read or coarse. A game reads the clock several times per move.
const BAD_CLOCKS: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];

/// Names of engines to start if they are in PATH or /usr/games.
const ENGINES: &str = "\
stockfish lc0 berserk caissa ethereal-chess fairy-stockfish obsidian rubichess toga2 glaurung fruit \
crafty gnuchess fairymax hoichess phalanx sjeng weiss viridithas";

/// Flags of `arbiter doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examines the processors, their load during one second, the clock and the memory, and starts all
registered engines and all well-known engines in PATH and /usr/games. If a finding is bad, timed games
are unreliable; games at fixed nodes (--each nodes=N) are not affected.

Exit codes: 0 if the machine is suitable for timed games, 1 if a finding is bad.

Examples:
  arbiter doctor
  arbiter doctor --format json")]
pub(crate) struct DoctorArgs {
    /// Also test access to a NATS server: a join file (*.join) or a URL such as tls://host:4222
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "FILE|URL")]
    on: Option<crate::fleet::ServerName>,
    /// Format of the findings
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    access: crate::fleet::AccessArgs,
}

/// Grade of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Health {
    /// Timed games are reliable.
    Good,
    /// Minor finding: timed games remain reliable.
    Note,
    /// Fault that makes timed games unreliable.
    Bad,
}

arbiter_names::named!(Health);

/// Suitability of this machine for timed games: `arbiter doctor`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.doctor/1")]
pub(crate) struct Findings {
    /// `true` if no finding is bad.
    fit: bool,
    /// Findings on all subjects.
    findings: Vec<Finding>,
}

/// Finding on a subject, with advice.
#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    /// Subject of the finding.
    subject: String,
    /// Grade of the finding.
    health: Health,
    /// Observed value.
    found: String,
    /// Advice; `null` if the grade is good.
    advice: Option<&'static str>,
}

fn finding(subject: &str, found: String, health: Health, advice: &'static str) -> Finding {
    let advice = (health != Health::Good).then_some(advice);
    Finding { subject: subject.to_owned(), health, found, advice }
}

/// Examines the machine and prints the findings.
pub(crate) fn run(args: DoctorArgs) -> Result<ExitCode, Failure> {
    let root = Path::new("/");
    let cpus = allowed_cpus();
    let before = Machine::read(root, &cpus);
    std::thread::sleep(WATCH);
    let machine = Machine::read(root, &cpus);
    let mut findings = check_processors(&machine);
    findings.extend(check_load(&machine, machine.times.since(before.times)));
    findings.extend(check_engines()?);
    #[cfg(feature = "cluster")]
    if let Some(server) = args.on {
        findings.push(check_server(args.access, server));
    }
    let is_fit = findings.iter().all(|finding| finding.health != Health::Bad);
    let mut table = Table::new(["subject", "state", "found", "advice"]);
    for Finding { subject, health, found, advice } in &findings {
        table.push([subject, health, found, &advice.unwrap_or_default()]);
    }
    let value = || to_value(&Findings { fit: is_fit, findings });
    let first = &["subject", "health", "found", "advice"];
    print_result(&args.format.of_table(table, value, Rows { list: Some("findings"), first }))?;
    Ok(if is_fit { ExitCode::Passed } else { ExitCode::Negative })
}

/// Returns the findings on the processors and their speed.
fn check_processors(machine: &Machine) -> Vec<Finding> {
    let Machine { processors, cores, .. } = machine;
    let health = |is_good, otherwise| if is_good { Health::Good } else { otherwise };
    let mut findings = vec![finding(
        "processors",
        format!("{processors} on {cores} cores"),
        health(processors == cores && *cores > 1, Health::Note),
        "two games on one core slow each other down: play at most one game per core \
         (--concurrency), and leave a core free while you work",
    )];
    if let Some(quota) = machine.quota {
        findings.push(finding(
            "quota",
            format!("{quota} processors' worth of time"),
            health(quota >= *processors as f64, Health::Bad),
            "the control group interrupts engines during their moves: remove the CPU quota of the \
             group, or give the container its own processors (docker --cpuset-cpus)",
        ));
    }
    let governors: Vec<&str> = machine.governors.iter().map(String::as_str).collect();
    findings.push(finding(
        "governor",
        if governors.is_empty() {
            "unknown: not reported by the system".into()
        } else {
            governors.join(", ")
        },
        health(governors.iter().all(|governor| *governor == "performance"), Health::Bad),
        "frequencies follow the load; fix them: cpupower frequency-set -g performance",
    ));
    if let Some(turbo) = machine.turbo {
        findings.push(finding(
            "turbo",
            if turbo { "on" } else { "off" }.into(),
            health(!turbo, Health::Note),
            "speed depends on temperature and active cores: keep the concurrency constant, or turn \
             turbo off (no_turbo of intel_pstate or cpufreq/boost below /sys/devices/system/cpu)",
        ));
    }
    let clock = machine.clock_source.as_deref().unwrap_or("unknown");
    findings.push(finding(
        "clock source",
        clock.to_owned(),
        health(!BAD_CLOCKS.contains(&clock), Health::Bad),
        "slow to read or coarse: boot with clocksource=tsc if the processor has an invariant TSC",
    ));
    findings
}

/// Returns the findings on the load of processors and memory; `times` are the CPU times
/// during the measurement.
fn check_load(machine: &Machine, times: CpuTimes) -> Vec<Finding> {
    let share = |ticks: u64| ticks as f64 / times.all.max(1) as f64;
    let (busy, stolen) =
        (share(times.all.saturating_sub(times.idle + times.stolen)), share(times.stolen));
    let health = |is_good| if is_good { Health::Good } else { Health::Bad };
    let load = machine.load.map(|load| format!("; load {load}")).unwrap_or_default();
    let mut findings = vec![
        finding(
            "other programs",
            format!("{:.0} % of the processors' time{load}", 100.0 * busy),
            health(busy <= MAX_BUSY),
            "they take time from the engines: end them (see `top`), or lower --concurrency",
        ),
        finding(
            "steal",
            format!("{:.1} %", 100.0 * stolen),
            health(stolen <= MAX_STOLEN),
            "CPU steal: other virtual machines use these cores; use a machine with dedicated \
             cores, or play at fixed nodes",
        ),
    ];
    if let Some(free) = machine.free_mib {
        findings.push(finding(
            "free memory",
            format!("{free} MiB"),
            health(free >= GAME_MIB * machine.processors as u64),
            "less than 256 MiB per game with one game per processor: swapping delays replies; end \
             programs, lower --concurrency or use smaller hash tables",
        ));
    }
    findings
}

/// Returns the findings on engines: the bundled and registered engines, which must reply, and
/// well-known engines in PATH or /usr/games.
fn check_engines() -> Result<Vec<Finding>, Failure> {
    let registered_engines = registered()?.into_keys().map(|name| (name, Health::Bad));
    let mut names = vec![(BUNDLED.to_owned(), Health::Bad)];
    names.extend(registered_engines);
    let found = ENGINES.split(' ').filter(|name| find_program(name, None).is_ok());
    // The failure of a program that the user has not registered is not a fault of the machine.
    names.extend(found.map(|name| (format!("cmd={name}"), Health::Note)));
    let tried = names.into_iter().map(|(name, otherwise)| {
        let subject = format!("engine {}", name.trim_start_matches("cmd="));
        match engine(&name).and_then(|engine| answer(&engine)) {
            Ok(reply) => {
                let found = format!("{}, {}", reply.declared_name, reply.protocol);
                finding(&subject, found, Health::Good, "")
            }
            Err(failure) => finding(
                &subject,
                failure.message,
                otherwise,
                "start it by hand and type uci, or see `arbiter check NAME`",
            ),
        }
    });
    Ok(tried.collect())
}

/// Returns the finding on access to the server.
#[cfg(feature = "cluster")]
fn check_server(access: crate::fleet::AccessArgs, server: crate::fleet::ServerName) -> Finding {
    let connected = access.access(server).and_then(|(access, _)| {
        Ok(crate::runtime::runtime()?.block_on(access.connect("arbiter doctor")).map(|_| ())?)
    });
    let (found, health) = match connected {
        Ok(()) => ("accessible".to_owned(), Health::Good),
        Err(failure) => (failure.message, Health::Bad),
    };
    let advice = "start it (`arbiter cluster up`), open port 4222, or create a join file (`arbiter \
                  cluster add`)";
    finding("server", found, health, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            processors: 4,
            cores: 4,
            quota: None,
            governors: ["performance".to_owned()].into(),
            turbo: Some(false),
            load: Some(0.5),
            clock_source: Some("tsc".into()),
            free_mib: Some(4096),
            times: CpuTimes::default(),
        }
    }

    fn not_good(machine: &Machine, busy: u64, stolen: u64) -> Vec<String> {
        let times = CpuTimes { all: 400, idle: 400 - busy - stolen, stolen };
        let findings = check_processors(machine).into_iter().chain(check_load(machine, times));
        let findings = findings.filter(|finding| finding.health != Health::Good);
        findings.map(|f| format!("{} {}: {}", f.health, f.subject, f.found)).collect()
    }

    #[test]
    fn each_flaw_is_found() {
        let flaw = |change: fn(&mut Machine)| {
            let mut machine = machine();
            change(&mut machine);
            not_good(&machine, 0, 0).join("; ")
        };
        assert_eq!(flaw(|_| ()), "");
        assert_eq!(flaw(|m| m.governors.clear()), "");
        assert_eq!(flaw(|m| m.cores = 2), "note processors: 4 on 2 cores");
        assert_eq!(flaw(|m| (m.processors, m.cores) = (1, 1)), "note processors: 1 on 1 cores");
        assert_eq!(flaw(|m| m.quota = Some(1.5)), "bad quota: 1.5 processors' worth of time");
        assert_eq!(flaw(|m| m.turbo = Some(true)), "note turbo: on");
        assert_eq!(flaw(|m| m.clock_source = Some("hpet".into())), "bad clock source: hpet");
        assert_eq!(flaw(|m| m.free_mib = Some(1000)), "bad free memory: 1000 MiB");
        let governor = flaw(|m| m.governors = ["ondemand", "performance"].map(String::from).into());
        assert_eq!(governor, "bad governor: ondemand, performance");
        let busy = "bad other programs: 12 % of the processors' time; load 0.5";
        assert_eq!(not_good(&machine(), 48, 4), [busy]);
        assert_eq!(not_good(&machine(), 40, 5), ["bad steal: 1.2 %"]);
    }
}
