import Foundation

/// The tests with random cases, which are identified by their seeds. `make test` takes few cases, `.ci/run` an eighth
/// of many, rotating each turn, and `.ci/day` many.
///
/// `SYNC_PROPERTY_CASES=100000` sets the number of cases, `SYNC_PROPERTY_FIRST=10000` the first seed, and
/// `SYNC_PROPERTY_SEED=7` runs one seed. The other tests use their name in place of `PROPERTY`.
package enum RandomTest: String {
    /// Syncs, compared with the reference store.
    case property
    /// Syncs into a store without SQL, compared with the reference store.
    case memory
    /// Syncs of rows with composite keys.
    case keys
    /// Syncs of objects keyed by ID, and of records with discriminators.
    case layouts
    /// Syncs of stores with dangling links, which they repair.
    case dangling
    /// Model changes of a store with rows.
    case migration
    /// Conditions, in SQL and in memory.
    case predicate
    /// Exports that are synced back.
    case export
    /// Models and payloads with a key case.
    case spelling
    /// Models inferred from records.
    case inference
    /// Payloads of each shape, exported from a store with the model inferred from them.
    case shapes
    /// Records as bytes, values and dictionaries.
    case forms
    /// Damaged bytes, read whole and in chunks.
    case damage
    /// Core Data models with random edits.
    case edits
    /// Histories of devices and a service, which converge.
    case history
    /// Histories with a real PocketBase server.
    case pocketbase
    /// Histories with the stub of Parse.
    case parse
    /// Histories with the stub of a changes endpoint.
    case changes
    /// Histories with a REST service in memory.
    case rest
    /// Histories with a real Kinto server.
    case kinto
    /// Histories of rows with composite keys.
    case parted
    /// Histories with the engine's entries of many rows together, and of single rows.
    case together

    /// The number of cases.
    private var count: (few: Int, many: Int) {
        switch self {
        case .property: (30, 1_200)
        case .memory: (15, 300)
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
        case .together: (12, 400)
        }
    }

    /// The number of parts of the cases. A part is at least as large as in `make test`.
    private static let turns = 8

    /// The seeds for the arguments of a test.
    package var range: Range<Int> {
        if let seed = number("SEED") { return seed..<(seed + 1) }
        let (few, many) = count
        var (first, cases) = (0, few)
        switch LongTests.extent {
        case .few: break
        case .turn(let turn):
            cases = max(few, many / Self.turns)
            // The range ends within that of `.ci/day`.
            first = turn % max(1, many / cases) * cases
        case .all: cases = many
        }
        first = number("FIRST") ?? first
        return first..<(first + max(number("CASES") ?? cases, 0))
    }

    /// The seeds for a loop. The loop ends `SYNC_LONG_SECONDS` after the first loop began and prints its last seed, but
    /// it takes at least as many seeds as `make test`.
    package var seeds: RandomSeeds {
        RandomSeeds(name: rawValue, range: range, atLeast: count.few, end: Self.end)
    }

    private static let end: ContinuousClock.Instant? = ProcessInfo.processInfo.environment["SYNC_LONG_SECONDS"]
        .flatMap { Double($0) }.map { ContinuousClock.now + .seconds($0) }

    private func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment["SYNC_\(rawValue.uppercased())_\(name)"].flatMap { Int($0) }
    }
}
