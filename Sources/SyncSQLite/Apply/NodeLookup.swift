import SyncCore

/// Finds the nodes of one batch by their keys. A class, so that a look-up copies no part of the plan.
final class NodeLookup: Sendable {
    private let batch: RowBatch
    /// By node: its key, if all are integers and one set; else empty.
    let integerKeys: [Int64]

    init(_ batch: RowBatch) {
        self.batch = batch
        let areIntegers = batch.hasOneSetOfKeys && batch.nodes.allSatisfy { $0.key.kind == .integer }
        integerKeys = areIntegers ? batch.nodes.map(\.key.integer) : []
    }

    /// The node of a key. `guess` is tried first: rows often come in the order of the payload.
    func node(forKey key: Slot, keyOwner: Int, _ pool: TextPool, guess: Int = -1) -> Int? {
        batch.node(forKey: key, keyOwner: keyOwner, pool, guess: guess)
    }

    /// The node of an integer key.
    @inline(__always)
    func node(forInteger key: Int64, keyOwner: Int, _ pool: TextPool, guess: Int) -> Int? {
        if guess >= 0, guess < integerKeys.count, integerKeys[guess] == key { return guess }
        return batch.node(forKey: .integer(key), keyOwner: keyOwner, pool)
    }

    /// The node of a key given as text that is not in the payload, such as a column's.
    func node(forText text: UnsafeBufferPointer<UInt8>, keyOwner: Int, _ pool: TextPool) -> Int? {
        batch.node(forText: text, keyOwner: keyOwner, pool)
    }
}
