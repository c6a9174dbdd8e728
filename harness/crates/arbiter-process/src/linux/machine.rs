//! Properties of a machine that affect timed games.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::host::kib;

/// State of a machine at one moment. A field is `None` if its value is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Number of processors that this process may use.
    pub processors: usize,
    /// Number of physical cores to which the processors in `processors` belong.
    pub cores: usize,
    /// CPU quota of the control group, in processors.
    pub quota: Option<f64>,
    /// Frequency governors in use, each listed once; empty if there are none.
    pub governors: BTreeSet<String>,
    /// `true` if turbo is enabled: frequencies may rise above the nominal frequency.
    pub turbo: Option<bool>,
    /// Load average of the last minute, in processes.
    pub load: Option<f64>,
    /// Clock source of the kernel.
    pub clock_source: Option<String>,
    /// Memory that is available without swapping, in MiB.
    pub free_mib: Option<u64>,
    /// Total times of all processors since the system started.
    pub times: CpuTimes,
}

/// CPU times, summed over all processors, in ticks of 10 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// Total time, including idle time.
    pub all: u64,
    /// Idle time, including time spent waiting for I/O.
    pub idle: u64,
    /// Steal time: CPU time that the hypervisor withheld from this machine, if the machine is
    /// virtual.
    pub stolen: u64,
}

impl CpuTimes {
    /// Returns the times that have passed since `earlier`.
    pub fn since(self, earlier: CpuTimes) -> CpuTimes {
        CpuTimes {
            all: self.all.saturating_sub(earlier.all),
            idle: self.idle.saturating_sub(earlier.idle),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }

    /// Parses the line `cpu` of `/proc/stat`. The columns of the line are user, nice, system, idle,
    /// iowait, irq, softirq and steal.
    pub(crate) fn read(stat: &str) -> Option<CpuTimes> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        // The guest columns that follow are already included in user and nice.
        let [_, _, _, idle, waiting, _, _, stolen] = ticks.get(..8)?.try_into().ok()?;
        Some(CpuTimes { all: ticks[..8].iter().sum(), idle: idle + waiting, stolen })
    }
}

impl Machine {
    /// Reads the state from the system files below `root`, which is `/` except in tests; `cpus` are
    /// the processors that this process may use.
    pub fn read(root: &Path, cpus: &[usize]) -> Machine {
        let text = |file: &str| {
            let text = fs::read_to_string(root.join(file)).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let of_cpu = |cpu: &usize, file| text(&format!("sys/devices/system/cpu/cpu{cpu}/{file}"));
        let core = |cpu| of_cpu(cpu, "topology/thread_siblings").unwrap_or(cpu.to_string());
        let turbo = || text("sys/devices/system/cpu/cpufreq/boost").map(|on| on == "1");
        let no_turbo = text("sys/devices/system/cpu/intel_pstate/no_turbo");
        let load = text("proc/loadavg");
        Machine {
            processors: cpus.len(),
            cores: cpus.iter().map(core).collect::<BTreeSet<_>>().len(),
            quota: text("sys/fs/cgroup/cpu.max").and_then(|max| quota(&max)),
            governors: cpus
                .iter()
                .filter_map(|cpu| of_cpu(cpu, "cpufreq/scaling_governor"))
                .collect(),
            turbo: no_turbo.map(|off| off == "0").or_else(turbo),
            load: load.and_then(|load| load.split(' ').next()?.parse().ok()),
            clock_source: text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            free_mib: kib(root.join("proc/meminfo"), "MemAvailable").map(|free| free >> 10),
            times: text("proc/stat").and_then(|stat| CpuTimes::read(&stat)).unwrap_or_default(),
        }
    }
}

/// Parses `cpu.max` (time and period in microseconds) into a number of processors.
fn quota(max: &str) -> Option<f64> {
    // The word `max` in place of the time means no limit; the word is not a number, so the result
    // is `None`.
    let (time, period) = max.split_once(' ')?;
    Some(time.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &str)]) -> Machine {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Machine::read(root.path(), &[0, 1, 2, 5])
    }

    #[test]
    fn proc_files_are_parsed() {
        let cpu = "sys/devices/system/cpu";
        let siblings = [(0, "3"), (1, "3"), (2, "24"), (5, "24")]
            .map(|(n, mask)| (format!("{cpu}/cpu{n}/topology/thread_siblings"), mask));
        let governor = format!("{cpu}/cpu5/cpufreq/scaling_governor");
        let no_turbo = format!("{cpu}/intel_pstate/no_turbo");
        let mut files: Vec<(&str, &str)> =
            siblings.iter().map(|(file, mask)| (&**file, *mask)).collect();
        files.extend([
            (&*governor, "powersave\n"),
            (&no_turbo, "0\n"),
            ("proc/loadavg", "1.25 0.5 0.1 2/300 4711\n"),
            ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    2048 kB\n"),
            ("proc/stat", "cpu  10 1 5 80 2 0 1 3 0 0\ncpu0 1 2\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("sys/fs/cgroup/cpu.max", "150000 100000\n"),
        ]);
        let expect = Machine {
            processors: 4,
            cores: 2,
            quota: Some(1.5),
            governors: ["powersave".to_owned()].into(),
            turbo: Some(true),
            load: Some(1.25),
            clock_source: Some("tsc".into()),
            free_mib: Some(2),
            times: CpuTimes { all: 102, idle: 82, stolen: 3 },
        };
        assert_eq!(with(&files), expect);
    }

    #[test]
    fn missing_system_information_is_no_error() {
        let silent = with(&[("sys/fs/cgroup/cpu.max", "max 100000"), ("proc/stat", "cpu  1 2 x")]);
        assert_eq!((silent.processors, silent.cores, silent.quota), (4, 4, None));
        assert_eq!((silent.turbo, silent.load, silent.free_mib), (None, None, None));
        assert_eq!(silent.times, CpuTimes::default());
        assert!(silent.governors.is_empty() && silent.clock_source.is_none());
        let boost = with(&[("sys/devices/system/cpu/cpufreq/boost", "0\n")]);
        assert_eq!(boost.turbo, Some(false));
    }
}
