import Foundation

/// A test that takes random cases, which are known by their seeds: few in `make test`, an eighth of many in `.ci/run`, another one each
/// turn, and many in `.ci/day`.
///
/// `SYNC_PROPERTY_CASES=100000` takes so many, `SYNC_PROPERTY_FIRST=10000` begins with another seed than 0,
/// `SYNC_PROPERTY_SEED=7` takes one again; with the name of the case in place of `PROPERTY` so for each.
package enum RandomTest: String {
    /// Syncs, compared with the reference store.
    case property
    /// The same with keys of several parts.
    case keys
    /// The same with objects keyed by id, and records that name their kind.
    case layouts
    /// Stores with links to rows that are not there, healed by a sync.
    case dangling
    /// Edits of a model with rows.
    case migration
    /// Conditions, in SQL and in memory.
    case predicate
    /// Exports that are synced back.
    case export
    /// Models and payloads with keys in a spelling.
    case spelling
    /// Models worked out from records.
    case inference
    /// Payloads of every shape, given back by a store with the model worked out from them.
    case shapes
    /// Records as bytes, values and dictionaries.
    case forms
    /// Bytes that were damaged, read whole and in pieces.
    case damage
    /// Core Data models with random edits.
    case edits
    /// Histories of devices and a service, which end in the same.
    case history
    /// The same with a PocketBase server that really runs.
    case pocketbase
    /// The same with the stub of Parse.
    case parse
    /// The same with the stub of a changes endpoint.
    case changes
    /// The same with a REST service in memory.
    case rest
    /// The same with a Kinto server that really runs.
    case kinto
    /// Histories of rows with keys of several parts.
    case parted

    /// How many cases it takes.
    private var count: (few: Int, many: Int) {
        switch self {
        case .property: (30, 1_200)
        case .keys: (20, 400)
        case .layouts: (20, 300)
        case .dangling: (6, 60)
        case .migration: (15, 300)
        case .predicate: (4, 24)
        case .export: (1, 12)
        case .spelling: (12, 200)
        case .inference: (50, 200)
        case .shapes: (40, 1_000)
        case .forms: (20, 60)
        case .damage: (500, 5_000)
        case .edits: (200, 2_000)
        case .history: (4, 300)
        case .parted: (5, 120)
        case .pocketbase: (1, 20)
        case .parse: (4, 60)
        case .changes: (6, 120)
        case .rest: (2, 100)
        case .kinto: (1, 10)
        }
    }

    /// Into so many parts the cases are divided; into fewer where a part would be smaller than in `make test`.
    private static let turns = 8

    /// The seeds of its cases, for the arguments of a test.
    package var range: Range<Int> {
        if let seed = number("SEED") { return seed..<(seed + 1) }
        let (few, many) = count
        var (first, cases) = (0, few)
        switch LongTests.extent {
        case .few: break
        case .turn(let turn):
            cases = max(few, many / Self.turns)
            // Never beyond those of `.ci/day`.
            first = turn % max(1, many / cases) * cases
        case .all: cases = many
        }
        first = number("FIRST") ?? first
        return first..<(first + max(number("CASES") ?? cases, 0))
    }

    /// The seeds of its cases, for a loop. It ends early `SYNC_LONG_SECONDS` after the first of all loops began, but not before it has
    /// taken as many as in `make test`, and prints then how far it came.
    package var seeds: RandomSeeds {
        RandomSeeds(name: rawValue, range: range, atLeast: count.few, end: Self.end)
    }

    private static let end: ContinuousClock.Instant? = ProcessInfo.processInfo.environment["SYNC_LONG_SECONDS"]
        .flatMap { Double($0) }.map { ContinuousClock.now + .seconds($0) }

    private func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment["SYNC_\(rawValue.uppercased())_\(name)"].flatMap { Int($0) }
    }
}
