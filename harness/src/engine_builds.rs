//! Builds and benches of engines.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::project::{self, files_of_init};
use crate::{build_args::BuildArgs, exit_code::ExitCode, failure::Failure, runtime::interruptible};
use arbiter_build::{
    BenchRecipe, BenchTarget, BuildError, BuildFailure, BuildSettings, Builder, Built, Cache,
    Entry, Outline, Repository, Signature, WORKING_TREE, run_bench,
};
use arbiter_game::engine::EngineSetup;
use arbiter_plan::{
    BUNDLED, Engine, EngineSpec, Plan, Provenance, SandboxMode, Scale, resolve_engine,
};
use arbiter_process::{Cancel, Spawner};
use arbiter_report::note;
use arbiter_runner::{engine_setup, sandbox};
use arbiter_settings::{DEFAULT_SETTINGS, build_settings_of};

/// Returns the path of this program, which is also the bundled engine.
pub(crate) fn own_binary() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(Failure::environment)
}

/// Returns the setup of an engine on this machine.
pub(crate) fn setup(engine: &Engine) -> Result<EngineSetup, Failure> {
    Ok(engine_setup(engine, &own_binary()?))
}

/// Parses the value of a flag as an engine, or as the settings of all engines.
pub(crate) fn engine_spec(flag: &str, text: &str) -> Result<EngineSpec, Failure> {
    EngineSpec::parse(text).map_err(|error| Failure::invalid(format!("{flag} '{text}': {error}")))
}

/// Settings of builds and benches, other than the engines.
#[derive(Debug, Clone, Default)]
pub(crate) struct BuildContext {
    /// Default settings of the engines.
    pub each: EngineSpec,
    /// Settings file named by a flag.
    pub config: Option<PathBuf>,
    /// Paths of results and other outputs, which do not count as changes of a working tree.
    pub without: Vec<PathBuf>,
    /// Number of parallel runs of each bench; equal to the concurrency of the games.
    pub copies: usize,
    /// Reference speed in nodes per second, if times are scaled to the speed of this machine.
    pub reference_nps: Option<f64>,
    /// `true` if no code of revisions may be run; the bundled engine then replaces each revision.
    pub is_dry_run: bool,
}

/// Check that runs before anything is built. The check receives the engines, with the bundled
/// engine in place of each revision.
pub(crate) type BuildCheck = Box<dyn FnOnce(Vec<EngineSpec>) -> Result<(), Failure> + Send>;

/// Engines that can be started, with their benches.
#[derive(Debug, Default)]
pub(crate) struct BuiltEngines {
    /// Engines, each with a program.
    pub engines: Vec<EngineSpec>,
    /// Bench result of each engine; `None` if the bench was not run.
    pub signatures: Vec<Option<Signature>>,
    /// Recipe of each engine's bench.
    pub recipes: Vec<BenchRecipe>,
    /// Scale by which times are multiplied, if times are scaled.
    pub scale: Option<Scale>,
}

impl BuildArgs {
    /// Builds revisions and runs benches. The engines are the values of `--dev` and `--base` or,
    /// without these flags, `engines`. Runs `check` before anything is built.
    pub(crate) fn prepare(
        &self,
        engines: Vec<EngineSpec>,
        context: BuildContext,
        check: Option<BuildCheck>,
    ) -> Result<BuiltEngines, Failure> {
        let sides = [("--dev", self.dev()), ("--base", self.base.as_deref())];
        let sides = sides.into_iter().filter_map(|(flag, side)| Some((flag, side?)));
        let sides =
            sides.map(|(flag, side)| engine_spec(flag, side)).collect::<Result<Vec<_>, _>>()?;
        let engines = if sides.is_empty() { engines } else { sides };
        let engines = engines.into_iter().map(|spec| self.look_up(spec));
        let engines = engines.collect::<Result<Vec<EngineSpec>, Failure>>()?;
        let is_built = |spec: &EngineSpec| spec.rev.is_some();
        let needs_build_or_bench = self.dev().is_some()
            || context.reference_nps.is_some()
            || engines.iter().any(is_built)
            || (is_built(&context.each) && engines.iter().any(|engine| engine.cmd.is_none()));
        if !needs_build_or_bench {
            return Ok(BuiltEngines { engines, ..BuiltEngines::default() });
        }
        self.with_all(context, move |builder| {
            if let Some(check) = check {
                check(builder.outlines(engines.clone())?)?;
            }
            builder.make(engines)
        })
    }

    /// Returns the description of a revision, without running any of its code.
    pub(crate) fn outline(&self, rev: &'static str) -> Result<Outline, Failure> {
        let repo = self.repository(None)?;
        self.with_all(BuildContext::default(), move |builder| builder.outline(&repo, rev))
    }

    /// Runs `work` with an engine builder until the work is done or a signal ends the work.
    fn with_all<T: Send + 'static>(
        &self,
        context: BuildContext,
        work: impl FnOnce(&EngineBuilder<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let args = self.clone();
        interruptible(move |spawner, cancel| {
            let cache = Cache::new(args.cache.clone())?;
            let printed = RefCell::default();
            work(&EngineBuilder { args, context, cache, spawner, cancel, printed })
        })
    }

    /// Rebuilds the programs of a stored run, if the programs are missing from the cache. The
    /// fingerprints of the run are checked later.
    pub(crate) fn restore(&self, plan: &Plan) -> Result<(), Failure> {
        for engine in &plan.engines {
            let (Some(from), Some(program)) = (&engine.provenance, &engine.program) else {
                continue;
            };
            if is_kept(program)? {
                continue;
            }
            let lost = format!("the program of engine '{}' is missing from the cache", engine.name);
            if from.is_dirty {
                let reason = format!("{lost}, and its source files were not committed");
                return Err(Failure::invalid(reason));
            }
            note(&format!("{lost}; rebuilding it"));
            let spec = EngineSpec {
                rev: Some(from.commit.clone()),
                repo: Some(from.repo.clone()),
                sandbox: Some(engine.launch.sandbox),
                ..EngineSpec::default()
            };
            // The run may be imported, so its paths do not determine where files are created.
            let cache = self.cache.clone();
            let pass_env = self.pass_env.clone();
            let rebuild = BuildArgs { cache, no_bench: true, pass_env, ..BuildArgs::default() };
            rebuild.prepare(vec![spec], BuildContext::default(), None)?;
            if !is_kept(program)? {
                let reason = format!(
                    "{lost}, and the recipe or toolchain has changed, or the run used another \
                     --cache"
                );
                return Err(Failure::invalid(reason));
            }
        }
        Ok(())
    }
}

/// Engine with a program, the result of its bench, and the recipe of its bench.
type BuiltEngine = (EngineSpec, Option<Signature>, BenchRecipe);

/// Builder of the engines of a command.
struct EngineBuilder<'a> {
    args: BuildArgs,
    context: BuildContext,
    cache: Cache,
    spawner: &'a Spawner,
    cancel: &'a Cancel,
    /// Notes that have already been printed; a second engine of the same repository does not repeat
    /// these notes.
    printed: RefCell<BTreeSet<String>>,
}

impl EngineBuilder<'_> {
    /// Replaces each revision with the bundled engine, and returns the engines. Prints a note if
    /// HEAD is to be built although the working tree has uncommitted changes.
    fn outlines(&self, mut engines: Vec<EngineSpec>) -> Result<Vec<EngineSpec>, Failure> {
        let mut heads = Vec::new();
        let mut working_trees = Vec::new();
        for spec in &mut engines {
            let Some(rev) = self.revision(spec) else { continue };
            let (repo, outline) = self.outlined(spec, &rev)?;
            let head = repo.commit("HEAD").ok();
            // Users who write the full hash of a commit mean the commit. Users who write another
            // name for HEAD may expect uncommitted changes to be included.
            let is_head = outline.commit == head && head.is_some_and(|head| head.id != rev);
            if rev == WORKING_TREE {
                working_trees.push(repo);
            } else if is_head {
                heads.push((rev, repo));
            }
        }
        make_names_differ(&mut engines);
        heads.retain(|(_, repo)| !working_trees.contains(repo));
        if let Some((rev, repo)) = heads.first()
            && let Ok(files) = self.outline(repo, WORKING_TREE)
            && files.is_dirty
        {
            note(&format!(
                "the working tree has uncommitted changes; to test these changes, write `.` in \
                 place of {rev}"
            ));
        }
        Ok(engines)
    }

    /// Builds revisions and runs benches.
    fn make(&self, engines: Vec<EngineSpec>) -> Result<BuiltEngines, Failure> {
        let mut prepared = BuiltEngines::default();
        for (index, spec) in engines.into_iter().enumerate() {
            let (spec, signature, recipe) = match self.revision(&spec) {
                Some(rev) => self.built(spec, &rev)?,
                None => self.existing(index, spec)?,
            };
            prepared.engines.push(spec);
            prepared.signatures.push(signature);
            prepared.recipes.push(recipe);
        }
        make_names_differ(&mut prepared.engines);
        check_lost_bench(&prepared)?;
        note_same_bench(&prepared);
        if !self.args.no_bench && !self.context.is_dry_run {
            note_no_bench(&prepared);
        }
        if let Some(reference_nps) = self.context.reference_nps {
            // As in fishtest, times are scaled by the speed of the base, which is the last engine.
            let measured = prepared.signatures.iter().flatten().next_back();
            let scale = measured.map(|found| Scale { reference_nps, measured_nps: found.nps });
            match scale {
                Some(scale) => note(&scale.describe()),
                None if self.context.is_dry_run => note("times are shown before --scale"),
                None => {
                    let reason = "--scale requires the bench of the last engine, which has none";
                    return Err(Failure::invalid(reason));
                }
            }
            prepared.scale = scale;
        }
        Ok(prepared)
    }

    /// Builds an engine from a revision.
    fn built(&self, mut spec: EngineSpec, rev: &str) -> Result<BuiltEngine, Failure> {
        if self.context.is_dry_run {
            let (_, Outline { label, recipe, .. }) = self.outlined(&mut spec, rev)?;
            note(&format!(
                "{label} is not built in a dry run: its options and bench are unknown; in a \
                 checkout, {} would report its toolchain, and `{}` ({}) build it",
                recipe.tools_text(),
                recipe.command,
                recipe.source
            ));
            return Ok((spec, None, BenchRecipe::default()));
        }
        let repo = self.repository(&spec)?;
        let mode = spec.sandbox.or(self.context.each.sandbox).unwrap_or_default();
        let mut built = self.builder(&repo, mode)?.build(&repo, rev)?;
        let signature = self.signature(&mut built)?;
        let provenance = Provenance {
            bench: signature.map(|signature| signature.nodes),
            ..provenance(&repo, rev, &built.outline)
        };
        let cmd = Some(built.launch.program.display().to_string());
        let Outline { label, recipe, .. } = built.outline;
        let name = spec.name.clone().or(Some(label));
        let spec = EngineSpec { name, cmd, rev: None, provenance: Some(provenance), ..spec };
        Ok((spec, signature, recipe.settings.bench))
    }

    /// Returns the bench signature of a revision; `None` if the bench is not to be run, or if the
    /// revision has no bench and no bench is required.
    fn signature(&self, built: &mut Built<'_>) -> Result<Option<Signature>, Failure> {
        let copies = self.context.copies;
        if self.context.reference_nps.is_some() {
            // The cached speed was measured at another time, under another load.
            built.measure(copies)?;
        } else if self.args.no_bench {
            return Ok(None);
        }
        let promised = built.promised_nodes();
        let BenchRecipe { args, pattern, .. } = &built.outline.recipe.settings.bench;
        let is_expected = args.is_some() || pattern.is_some() || promised.is_some();
        let found = built.signature(copies);
        let agrees = if promised.is_some() { ", as in its commit message" } else { "" };
        let accepted: &[BuildFailure] = if is_expected { &[] } else { &[BuildFailure::NoBench] };
        noted_bench(&built.outline.label, found, agrees, accepted)
    }

    /// Replaces a revision with the bundled engine, and returns the repository and the description
    /// of the revision.
    fn outlined(&self, spec: &mut EngineSpec, rev: &str) -> Result<(Repository, Outline), Failure> {
        let repo = self.repository(spec)?;
        let outline = self.outline(&repo, rev)?;
        spec.provenance = Some(provenance(&repo, rev, &outline));
        spec.name.get_or_insert_with(|| outline.label.clone());
        (spec.cmd, spec.rev) = (Some(BUNDLED.to_owned()), None);
        Ok((repo, outline))
    }

    /// Returns the description of a revision.
    fn outline(&self, repo: &Repository, rev: &str) -> Result<Outline, Failure> {
        Ok(self.builder(repo, SandboxMode::Off)?.outline(repo, rev)?)
    }

    /// Returns the revision from which an engine is built, if any.
    fn revision(&self, spec: &EngineSpec) -> Option<String> {
        let each = self.context.each.rev.as_ref();
        spec.rev.as_ref().or(each).filter(|_| spec.cmd.is_none()).cloned()
    }

    /// Opens the repository of an engine.
    fn repository(&self, spec: &EngineSpec) -> Result<Repository, BuildError> {
        self.args.repository(spec.repo.as_deref().or(self.context.each.repo.as_deref()))
    }

    /// Runs the bench of an existing program, for comparison with a build or to scale times.
    fn existing(&self, index: usize, spec: EngineSpec) -> Result<BuiltEngine, Failure> {
        let merged = spec.clone().or(&self.context.each);
        let is_bundled = merged.cmd.as_deref() == Some(BUNDLED);
        let settings = if is_bundled { None } else { self.settings()? };
        let recipe = settings.map(|settings| settings.bench).unwrap_or_default();
        if self.args.no_bench && self.context.reference_nps.is_none() {
            return Ok((spec, None, recipe));
        }
        // An error is reported later, when the plan is resolved.
        let Ok(engine) = resolve_engine(index, merged) else { return Ok((spec, None, recipe)) };
        let EngineSetup { name, launch, .. } = &setup(&engine)?;
        let EngineBuilder { spawner, cancel, .. } = self;
        let target = BenchTarget { name, launch, recipe: &recipe, spawner, cancel };
        let found = run_bench(&target, self.context.copies);
        let accepted: &[BuildFailure] = match self.context.reference_nps {
            Some(_) => &[],
            None => &[BuildFailure::NoBench, BuildFailure::BenchFailed],
        };
        Ok((spec, noted_bench(name, found, "", accepted)?, recipe))
    }

    /// Returns the builder for a repository.
    fn builder(&self, repo: &Repository, mode: SandboxMode) -> Result<Builder<'_>, Failure> {
        // The settings file describes the builds of its own repository. For another repository, the
        // file is used only if a flag names the file.
        let is_ours = || Repository::open(Path::new(".")).is_ok_and(|here| here == *repo);
        let is_named = self.context.config.is_some();
        let settings = self.settings()?.filter(|_| is_named || is_ours());
        let without = self.context.without.iter().filter_map(|path| std::path::absolute(path).ok());
        let without = without.chain(files_of_init(&repo.top));
        let notify = move |words: &str| {
            if self.printed.borrow_mut().insert(words.to_owned()) {
                note(words);
            }
        };
        Ok(Builder {
            cache: &self.cache,
            settings,
            read: |text| build_settings_of(DEFAULT_SETTINGS, text),
            passed: &self.args.pass_env,
            sandbox: sandbox(mode, Vec::new()),
            without: without.collect(),
            spawner: self.spawner,
            cancel: self.cancel,
            notify: Box::new(notify),
        })
    }

    /// Returns the build settings in the settings file.
    fn settings(&self) -> Result<Option<BuildSettings>, Failure> {
        let file = project::settings(self.context.config.as_deref())?.unwrap_or_default();
        let name = file.name();
        let read = file.build.map(|table| table.settings(&name)).transpose();
        Ok(read.map_err(|reason| BuildError::invalid_recipe(&name, &reason))?)
    }
}

/// Prints the result of a bench. Returns `None` if the bench failed for one of the `accepted`
/// reasons.
fn noted_bench(
    name: &str,
    found: Result<Signature, BuildError>,
    agrees: &str,
    accepted: &[BuildFailure],
) -> Result<Option<Signature>, Failure> {
    match found {
        Ok(found) => {
            note(&format!("bench of {name}: {} nodes{agrees}", found.nodes));
            Ok(Some(found))
        }
        Err(BuildError::Failed(failure, error)) if accepted.contains(&failure) => {
            log::debug!("{name} has no bench: {error}");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the provenance of an engine.
fn provenance(repo: &Repository, revision: &str, outline: &Outline) -> Provenance {
    Provenance {
        repo: repo.top.clone(),
        revision: revision.to_owned(),
        commit: outline.commit_id().to_owned(),
        is_dirty: outline.is_dirty,
        bench: None,
    }
}

/// Returns whether a built program exists in the cache, and prevents its removal until this process
/// ends.
fn is_kept(program: &Path) -> Result<bool, BuildError> {
    let is_cached = Entry::of_program(program).map_or(Ok(true), |entry| entry.hold())?;
    Ok(is_cached && program.is_file())
}

/// Renames two engines that have the same name, such as two builds of one commit.
fn make_names_differ(engines: &mut [EngineSpec]) {
    if let [test, base] = engines
        && test.name == base.name
        && let (Some(one), Some(other)) = (&mut test.name, &mut base.name)
    {
        one.push_str(" dev");
        other.push_str(" base");
    }
}

/// Fails if only the base has a bench, because the revision under test has most likely broken the
/// bench.
fn check_lost_bench(prepared: &BuiltEngines) -> Result<(), Failure> {
    let name = |index: usize| prepared.engines[index].name.as_deref().unwrap_or("it");
    if let [None, Some(_)] = prepared.signatures[..]
        && prepared.engines.iter().all(|engine| engine.provenance.is_some())
    {
        let reason = format!(
            "{} has no bench signature, but {} has one\nhint: fix the missing bench, or give \
             --no-bench",
            name(0),
            name(1)
        );
        return Err(Failure::new(ExitCode::NoBench, reason));
    }
    Ok(())
}

/// Prints a note if two different programs have the same bench, because their searches are then
/// probably identical.
fn note_same_bench(prepared: &BuiltEngines) {
    if let [Some(one), Some(other)] = prepared.signatures[..]
        && one.nodes == other.nodes
        && prepared.engines[0].cmd != prepared.engines[1].cmd
    {
        note(&format!(
            "identical bench {}: no functional change; use --elo0 -3 --elo1 1 to test for a \
             regression",
            one.nodes
        ));
    }
}

/// Prints a note about engines without a bench.
fn note_no_bench(prepared: &BuiltEngines) {
    let all = prepared.engines.iter().zip(&prepared.signatures);
    let without = all.filter(|(_, signature)| signature.is_none());
    let name = |engine: &'_ EngineSpec| engine.name.clone().or_else(|| engine.cmd.clone());
    let names: Vec<String> = without.filter_map(|(engine, _)| name(engine)).collect();
    if !names.is_empty() {
        note(&format!("no bench to compare: {}", names.join(", ")));
    }
}
