//! Assignment of processors to concurrent games. This module does no I/O.

use arbiter_plan::{Affinity, cpu_list};

/// Returns sets of `each` processors for at least `slots` games; an empty list if the operating
/// system assigns processors. `allowed` contains the available processors, best first. Fails if a
/// requested processor is not available, or if there are too few processors.
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

#[cfg(test)]
mod tests {
    use super::*;

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
