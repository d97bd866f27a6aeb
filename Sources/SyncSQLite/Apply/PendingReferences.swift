import GRDB
import SyncCore

/// References to rows that are not there yet: those this payload makes, and whether the store remembers any.
struct PendingReferences {
    /// A reference as the store remembers it, but for its position in the list of ids.
    struct Reference: Hashable {
        var owner: StoredRow
        var ownerEntity: Int
        var relationship: String
        var targetEntity: Int
        var target: RowKey

        /// The keys tell nearly all references apart.
        func hash(into hasher: inout Hasher) {
            hasher.combine(owner.key)
            hasher.combine(target)
        }
    }

    /// The references that a payload makes and that no later statement of it replaced, each once, with their positions
    /// in the lists that give them; -1 for a to-one reference.
    struct Wanted {
        private(set) var references: [(reference: Reference, position: Int64)] = []
        private var places: [Reference: Int] = [:]

        init(capacity: Int) {
            references.reserveCapacity(capacity)
            places.reserveCapacity(capacity)
        }

        /// Adds a reference; of the same one again the first counts.
        mutating func add(_ reference: Reference, at position: Int64) {
            let place = places[reference, default: references.count]
            guard place == references.count else { return }
            places[reference] = place
            references.append((reference, position))
        }

        func place(of reference: Reference) -> Int? { places[reference] }
    }

    /// Whether the store remembered references when the sync began.
    let hasStored: Bool
    private(set) var noted: [(assertion: LinkBatch.Assertion, link: Int)] = []
    /// The trees that no awaited row can have come to without a sync that saw it.
    var settled: Set<Int>
    private let watch: ArrivalWatch?
    /// When the sync began.
    let start: ArrivalWatch.Point?

    init(_ db: Database, _ trees: Range<Int>, _ watch: ArrivalWatch?) throws {
        hasStored = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_pending)") ?? false
        self.watch = watch
        start = try watch == nil ? nil : ArrivalWatch.Point(db)
        settled = hasStored ? start.flatMap { watch?.settled(at: $0) } ?? [] : Set(trees)
    }

    mutating func note(_ assertions: [LinkBatch.Assertion], _ link: Int) {
        for assertion in assertions { noted.append((assertion, link)) }
    }

    /// What a link waits for.
    func noted(of link: Int) -> some Sequence<LinkBatch.Assertion> {
        noted.lazy.filter { $0.link == link }.map(\.assertion)
    }

    /// Keeps in mind, once the transaction is committed, that nothing else has written to the store up to here.
    func settle(_ db: Database) {
        guard let watch, let start, hasStored || !noted.isEmpty else { return }
        let end = ArrivalWatch.Point(dataVersion: start.dataVersion, changes: db.totalChangesCount)
        let settled = settled
        db.afterNextTransaction(
            onCommit: { _ in watch.settle(settled, at: end) },
            onRollback: { db in
                watch.move(from: start, to: .init(dataVersion: start.dataVersion, changes: db.totalChangesCount))
            })
    }
}
