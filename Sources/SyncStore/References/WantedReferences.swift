import SyncCore

/// The references that a payload makes and that no later statement of it replaced, each once, with their positions in the
/// lists that give them; -1 for a to-one reference.
struct WantedReferences {
    private(set) var references: [RememberedReference] = []
    private var indexes: [LateReference: Int] = [:]

    init(capacity: Int) {
        references.reserveCapacity(capacity)
        indexes.reserveCapacity(capacity)
    }

    /// Adds a reference; of the same one again the first counts.
    mutating func add(_ reference: LateReference, at position: Int64) {
        let index = indexes[reference, default: references.count]
        guard index == references.count else { return }
        indexes[reference] = index
        references.append(RememberedReference(reference, at: position))
    }

    func index(of reference: LateReference) -> Int? { indexes[reference] }
}
