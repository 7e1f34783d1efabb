/**
 * Which Python runs the server: the written order of the places to look, and what came of each.
 *
 * 1. the setting `op-lint.interpreter`
 * 2. the interpreter that the Python extension has chosen, where that extension is installed
 * 3. `$VIRTUAL_ENV`, then `$CONDA_PREFIX`
 * 4. `.venv` in a folder of the workspace
 * 5. `python3`, then `python`, on `PATH`
 *
 * The first that can run the server does. One that cannot is passed over and said so in the status, but it still is the
 * interpreter whose torch the sources are held against: the server finds that by an order of its own. In a workspace
 * that is not trusted nothing is run that the workspace holds or names.
 */
import * as os from 'node:os';
import * as path from 'node:path';

export type Origin = 'setting' | 'Python extension' | '$VIRTUAL_ENV' | '$CONDA_PREFIX' | '.venv' | 'PATH';

/** What is known before the search. `folders` are the workspace's, the first one being where relative paths start. */
export interface Search {
  readonly setting: string;
  readonly chosen: string | undefined;
  readonly folders: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isTrusted: boolean;
}

/** One place of the search: what it names. */
export interface Candidate {
  readonly origin: Origin;
  readonly named: string;
}

/** What a Python says of itself (`python/launch.py check`). */
export interface Answer {
  readonly python: readonly number[];
  readonly executable: string;
  readonly tag: string;
  readonly source?: 'bundled' | 'environment';
  readonly version?: string;
  readonly problem?: string;
  readonly missing: readonly { readonly name: string; readonly why: string }[];
}

/** What came of one place. `path` is the interpreter it names, where there is one. */
export interface Verdict extends Candidate {
  readonly path?: string;
  readonly words: string;
  /** The libraries that it lacks to run the server, and what compiled packages must fit to. */
  readonly lacks?: readonly string[];
  readonly tag?: string;
}

/** The Python that runs the server. */
export interface Runner {
  readonly path: string;
  readonly origin: Origin;
  readonly answer: Answer;
}

/** The outcome of the search; without a `runner` nothing can run the server. */
export interface Resolution {
  readonly runner?: Runner;
  readonly verdicts: readonly Verdict[];
}

/** The disk, and the Pythons on it. */
export interface World {
  /** Whether a file is there and may be run. */
  isExecutable(file: string): boolean;
  isFolder(file: string): boolean;
  /** The path with all links followed; the path itself where that fails. */
  real(file: string): string;
  /** Asks an interpreter about itself. Rejects with words for the user where it cannot be run. */
  ask(interpreter: string): Promise<Answer>;
}

const OLDEST = [3, 10] as const;
const IS_WINDOWS = process.platform === 'win32';
const IN_ENVIRONMENT = IS_WINDOWS ? ['Scripts/python.exe', 'python.exe'] : ['bin/python', 'bin/python3'];

/** The places in their order, those that name nothing left out. */
export function candidates(search: Search): Candidate[] {
  const environments = search.folders.map((folder) => path.join(folder, '.venv'));
  const places: [Origin, string | undefined][] = [
    ['setting', search.setting.trim()],
    ['Python extension', search.chosen],
    ['$VIRTUAL_ENV', search.environment['VIRTUAL_ENV']],
    ['$CONDA_PREFIX', search.environment['CONDA_PREFIX']],
    ...environments.map((environment): [Origin, string] => ['.venv', environment]),
    ['PATH', 'python3'],
    ['PATH', 'python'],
  ];
  return places.filter((place): place is [Origin, string] => Boolean(place[1])).map(([origin, named]) => ({ origin, named }));
}

/** The interpreter that a text names: a path, the folder of an environment, or a command on `PATH`. */
export function locate(named: string, search: Search, world: World): string | undefined {
  const written = expanded(named, search);
  if (path.basename(written) === written) {
    const folders = (search.environment['PATH'] ?? search.environment['Path'] ?? '').split(path.delimiter);
    const names = IS_WINDOWS && !written.endsWith('.exe') ? [`${written}.exe`] : [written];
    const files = folders.filter((folder) => path.isAbsolute(folder)).flatMap((folder) => names.map((name) => path.join(folder, name)));
    const found = files.find((file) => world.isExecutable(file) && !world.isFolder(file));
    if (found !== undefined || !search.folders[0]) return found;
  }
  const file = path.resolve(search.folders[0] ?? os.homedir(), written);
  const options = world.isFolder(file) ? IN_ENVIRONMENT.map((inside) => path.join(file, inside)) : [file];
  return options.find((option) => world.isExecutable(option) && !world.isFolder(option));
}

/** Search in the written order. */
export async function resolve(search: Search, world: World): Promise<Resolution> {
  const verdicts: Verdict[] = [];
  const asked = new Map<string, string>();
  for (const candidate of candidates(search)) {
    if (candidate.origin === '.venv' && !world.isFolder(candidate.named)) continue;
    const found = locate(candidate.named, search, world);
    const refusal = refused(candidate, found, search, world, asked);
    if (found === undefined || refusal !== undefined) {
      verdicts.push({ ...candidate, ...(found === undefined ? {} : { path: found }), words: refusal ?? 'does not exist' });
      continue;
    }
    const judged = await judge(found, world);
    asked.set(found, candidate.origin);
    const { answer, ...outcome } = judged;
    verdicts.push({ ...candidate, path: found, ...outcome });
    if (answer) return { runner: { path: found, origin: candidate.origin, answer }, verdicts };
  }
  return { verdicts };
}

/** What the user should know although the server runs: a setting that names nothing that could be used. */
export function warning(resolution: Resolution): string | undefined {
  const setting = resolution.verdicts.find((verdict) => verdict.origin === 'setting');
  if (!setting || resolution.runner?.origin === 'setting') return undefined;
  return `the setting op-lint.interpreter is \`${setting.named}\`: ${setting.words}`;
}

/** The first interpreter that could run the server if it had the libraries that it lacks. */
export function lacking(resolution: Resolution): Verdict | undefined {
  return resolution.verdicts.find((verdict) => verdict.lacks !== undefined);
}

/** What decides whether the server has to be started anew. */
export function identity(resolution: Resolution, strategy: string): string {
  const { runner } = resolution;
  return runner ? JSON.stringify([runner.path, runner.answer.python, runner.answer.source, strategy]) : '';
}

function expanded(named: string, search: Search): string {
  const folder = search.folders[0] ?? '';
  const text = named.replaceAll('${workspaceFolder}', folder).replaceAll('${userHome}', os.homedir());
  return text === '~' || /^~[/\\]/.test(text) ? path.join(os.homedir(), text.slice(1)) : text;
}

function refused(
  candidate: Candidate,
  found: string | undefined,
  search: Search,
  world: World,
  asked: ReadonlyMap<string, string>,
): string | undefined {
  if (found === undefined) return undefined;
  const before = asked.get(found);
  if (before !== undefined) return `is that of ${before}, see there`;
  if (search.isTrusted) return undefined;
  if (candidate.origin === 'Python extension') return 'chosen for a workspace that is not trusted';
  const places = [found, world.real(found)];
  const isInside = search.folders.some((folder) => places.some((place) => isWithin(place, folder) || isWithin(place, world.real(folder))));
  return isInside ? 'inside a workspace that is not trusted' : undefined;
}

function isWithin(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  return relative === '' || (relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative));
}

async function judge(found: string, world: World): Promise<{ words: string; answer?: Answer; lacks?: string[]; tag?: string }> {
  let answer: Answer;
  try {
    answer = await world.ask(found);
  } catch (error) {
    return { words: error instanceof Error ? error.message : String(error) };
  }
  const [major = 0, minor = 0] = answer.python;
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return { words: `is Python ${answer.python.join('.')}: the server needs ${OLDEST.join('.')} or newer` };
  }
  if (answer.problem !== undefined) return { words: answer.problem };
  if (answer.missing.length > 0) {
    const lacks = answer.missing.map((each) => each.name);
    return { words: `has no ${answer.missing.map((each) => `${each.name} (${each.why})`).join(' and no ')}`, lacks, tag: answer.tag };
  }
  return { words: 'used', answer };
}
