import CPrefetch
import SyncCore
import SyncStore

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

    var isEmpty: Bool { batch.nodes.isEmpty }

    /// Whether the payload has rows that are known by their owners.
    var hasOwned: Bool { !batch.owners.isEmpty }

    /// The node of the key in a column. `guess` is tried first: rows often come in the order of the payload; -1 for none.
    @inline(__always)
    func node(
        _ statement: RawStatement, _ column: Int, _ type: AttributeType, _ keyOwner: Int, _ pool: TextPool, guess: Int
    ) -> Int? {
        switch type {
        case .integer:
            let key = statement.integer(column)
            if guess >= 0, guess < integerKeys.count, integerKeys[guess] == key { return guess }
            return batch.node(forKey: .integer(key), keyOwner: keyOwner, pool)?.index
        case .double:
            return node(forKey: .real(statement.real(column)), keyOwner, pool, guess)
        case .date:
            guard let date = DateParser.milliseconds(statement.text(column)) else { return nil }
            return node(forKey: .date(date), keyOwner, pool, guess)
        default:
            return batch.node(forText: statement.text(column), keyOwner: keyOwner, pool)?.index
        }
    }

    /// The node with a key that is this text.
    func node(_ text: UnsafeBufferPointer<UInt8>, _ keyOwner: Int, _ pool: TextPool, guess: Int) -> Int? {
        if guess >= 0, guess < batch.nodes.count, batch.hasOneSetOfKeys,
            TextPool.equal(pool.bytes(batch.nodes[guess].key), text)
        {
            return guess
        }
        return batch.node(forText: text, keyOwner: keyOwner, pool)?.index
    }

    private func node(forKey key: Slot, _ keyOwner: Int, _ pool: TextPool, _ guess: Int) -> Int? {
        batch.node(forKey: key, keyOwner: keyOwner, pool, guess: guess < 0 ? nil : NodeID(guess))?.index
    }

    // MARK: Rows in another order than the payload's

    /// Asks for a node and its values, which will be read soon: out of order each would be waited for.
    @inline(__always)
    func prefetch(_ node: Int, version: Int) {
        batch.nodes.withUnsafeBufferPointer { nodes in
            guard let base = nodes.baseAddress else { return }
            sync_prefetch(base + node)
        }
        guard version >= 0, version < batch.versionCount else { return }
        batch.slots.withUnsafeBufferPointer { slots in
            guard let base = slots.baseAddress else { return }
            sync_prefetch(base + version * batch.stride)
            sync_prefetch(base + (version + 1) * batch.stride - 1)
        }
    }

    /// Asks for the texts of a node whose values were asked for a while ago.
    @inline(__always)
    func prefetchTexts(version: Int, _ pool: TextPool) {
        guard version >= 0, version < batch.versionCount, let payload = pool.payload.baseAddress else { return }
        batch.slots.withUnsafeBufferPointer { slots in
            for slot in slots[version * batch.stride..<(version + 1) * batch.stride] where slot.kind == .payloadText {
                sync_prefetch(payload + slot.offset)
            }
        }
    }
}
