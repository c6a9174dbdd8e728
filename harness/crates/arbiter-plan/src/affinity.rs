//! Assignment of processors to games, written as `auto`, `none` or a list such as `0-3,8`.

use std::fmt;
use std::str::FromStr;

use crate::Engine;

/// Exclusive upper bound of processor numbers: the size of the system's processor masks, in bits.
pub(crate) const MAX_CPUS: usize = 1024;

/// Assignment of processors to games.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Affinity {
    /// The operating system assigns processors.
    #[default]
    None,
    /// Each game has separate processors, on different physical cores if the machine has enough
    /// cores.
    Auto,
    /// Each game has separate processors, taken from this list in the given order.
    Cpus(Vec<usize>),
}

impl FromStr for Affinity {
    type Err = String;

    fn from_str(text: &str) -> Result<Affinity, String> {
        match text {
            "none" => return Ok(Affinity::None),
            "auto" => return Ok(Affinity::Auto),
            _ => {}
        }
        let malformed =
            || format!("'{text}' is neither auto, none nor a list of processors such as 0-3,8");
        let mut cpus = Vec::new();
        for range in text.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let number = |text: &str| {
                text.trim().parse().ok().filter(|cpu| *cpu < MAX_CPUS).ok_or_else(malformed)
            };
            let first = number(first)?;
            let last = number(last)?;
            if first > last {
                return Err(malformed());
            }
            for cpu in first..=last {
                if cpus.contains(&cpu) {
                    return Err(format!("processor {cpu} is listed twice"));
                }
                cpus.push(cpu);
            }
        }
        Ok(Affinity::Cpus(cpus))
    }
}

impl fmt::Display for Affinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Affinity::None => f.write_str("none"),
            Affinity::Auto => f.write_str("auto"),
            Affinity::Cpus(cpus) => f.write_str(&cpu_list(cpus)),
        }
    }
}

/// Returns processors as a list with ranges, such as `0-3,8`.
pub fn cpu_list(cpus: &[usize]) -> String {
    let ranges = cpus.chunk_by(|a, b| a + 1 == *b).map(|range| match range {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    ranges.collect::<Vec<_>>().join(",")
}

/// Returns sets of `each` processors for at least `slots` games; an empty list if the operating
/// system assigns processors. `allowed` contains the available processors, most preferred first.
/// Fails if a requested processor is not available, or if there are too few processors.
pub fn cpu_sets(
    affinity: &Affinity,
    allowed: &[usize],
    slots: usize,
    each: usize,
) -> Result<Vec<Vec<usize>>, String> {
    let cpus = match affinity {
        Affinity::None => return Ok(Vec::new()),
        Affinity::Auto => allowed,
        Affinity::Cpus(cpus) => cpus,
    };
    let sorted = |cpus: &[usize]| {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpu_list(&cpus)
    };
    if let Some(&cpu) = cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        let allowed = sorted(allowed);
        return Err(format!("processor {cpu} is not available to arbiter; available: {allowed}"));
    }
    // The remaining processors, too few for another game, stay unused.
    let cpu_sets: Vec<Vec<usize>> = cpus.chunks_exact(each.max(1)).map(<[usize]>::to_vec).collect();
    if cpu_sets.len() < slots {
        return Err(format!(
            "{slots} games with {each} processors each need {} processors, but {} are available \
             ({}); lower --concurrency or the engines' Threads, or give --affinity none",
            slots * each,
            cpus.len(),
            sorted(cpus)
        ));
    }
    Ok(cpu_sets)
}

/// Returns the number of processors that a game of these engines can use in parallel: the largest
/// number of threads of an engine, or the sum of the two largest numbers if an engine may ponder.
pub fn cpus_per_game(engines: &[Engine]) -> usize {
    let mut threads: Vec<usize> = engines.iter().map(engine_threads).collect();
    threads.sort_unstable();
    let most = threads.pop().unwrap_or(1);
    // Without pondering, the engines of a game take turns and can share processors.
    let ponders = engines.iter().any(|engine| engine.launch.ponder);
    if ponders { most + threads.pop().unwrap_or(0) } else { most }
}

/// Returns whether an option with this name sets the number of threads of an engine.
pub fn is_threads_option(name: &str) -> bool {
    ["threads", "cores"].contains(&name.to_lowercase().as_str())
}

/// Returns the configured number of threads of an engine, at least 1.
pub fn engine_threads(engine: &Engine) -> usize {
    let option = engine.options.iter().find(|(name, _)| is_threads_option(name));
    option.and_then(|(_, value)| value.parse().ok()).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineSpec, resolve_engine};

    #[test]
    fn displayed_cpu_lists_parse_back() {
        for text in ["none", "auto", "0-3,8", "5", "7,2-4"] {
            assert_eq!(text.parse::<Affinity>().unwrap().to_string(), text);
        }
        assert_eq!("1,2,3".parse(), Ok(Affinity::Cpus(vec![1, 2, 3])));
        for text in ["", "all", "3-1", "0,", "1-", "-1", "0-1024"] {
            assert!(text.parse::<Affinity>().unwrap_err().contains("is neither"), "{text}");
        }
        assert!("0-3,2".parse::<Affinity>().unwrap_err().contains("2 is listed twice"));
    }

    #[test]
    fn a_game_needs_processors_for_its_larger_engine() {
        let needed = |specs: [&str; 3]| {
            cpus_per_game(
                &specs.map(|spec| resolve_engine(0, EngineSpec::parse(spec).unwrap()).unwrap()),
            )
        };
        let names = ["cmd=sh,name=a", "cmd=sh,name=b,option.Threads=4", "cmd=sh,name=c"];
        assert_eq!(needed(names), 4);
        assert_eq!(
            needed([names[0], "cmd=sh,name=b,option.cores=2,proto=xboard,depth=3", names[2]]),
            2
        );
        assert_eq!(needed([names[0], names[1], "cmd=sh,name=c,ponder=true"]), 5);
        assert_eq!(needed([names[0], "cmd=sh,name=b", names[2]]), 1);
    }

    #[test]
    fn games_have_separate_processors() {
        let allowed = [0, 2, 4, 1, 3, 5];
        assert_eq!(cpu_sets(&Affinity::None, &allowed, 99, 1), Ok(vec![]));
        let auto = |slots, each| cpu_sets(&Affinity::Auto, &allowed, slots, each);
        assert_eq!(auto(2, 2), Ok(vec![vec![0, 2], vec![4, 1], vec![3, 5]]));
        assert_eq!(auto(1, 4), Ok(vec![vec![0, 2, 4, 1]]));
        let list = Affinity::Cpus(vec![5, 1, 0]);
        assert_eq!(cpu_sets(&list, &allowed, 2, 1), Ok(vec![vec![5], vec![1], vec![0]]));
    }

    #[test]
    fn missing_processors_are_reported() {
        let check = |affinity: Affinity, slots, each, part: &str| {
            let error = cpu_sets(&affinity, &[0, 1, 2, 8], slots, each).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        check(Affinity::Auto, 5, 1, "5 games with 1 processors each need 5");
        check(Affinity::Auto, 2, 3, "need 6 processors, but 4 are available (0-2,8)");
        check(Affinity::Cpus(vec![1]), 2, 1, "1 are available (1)");
        check(Affinity::Cpus(vec![1, 9]), 1, 1, "processor 9 is not available");
        check(Affinity::Cpus(vec![1, 9]), 1, 1, "available: 0-2,8");
    }
}
