import Testing

@testable import SyncCore

@Suite("Key index of a node batch")
struct KeyIndexTests {
    private static var noTexts: TextPool {
        TextPool(payload: .init(start: nil, count: 0), arena: .init(start: nil, count: 0))
    }

    @Test("The index finds each inserted key and no other while it grows", arguments: [0, 5_000])
    func findsEachKeyWhileGrowing(reserved: Int) {
        var index = KeyIndex()
        index.reserve(reserved)
        var batch = NodeBatch(slotCount: 0)
        for key in 0..<5_000 {
            let found = batch.node(forKey: .integer(Int64(key) * 7 - 9_000), keyOwner: 0, entity: 0, Self.noTexts)
            #expect(found.node == NodeID(key) && found.isNew)
            if index.isFull { index.grow(batch.nodes, Self.noTexts) }
            index.insert(NodeID(key), hash: Self.noTexts.hash(batch.nodes[key].key))
        }
        for key in 0..<5_000 {
            let slot = PackedValue.integer(Int64(key) * 7 - 9_000)
            #expect(index.node(for: slot, hash: Self.noTexts.hash(slot), in: batch.nodes, Self.noTexts) == NodeID(key))
            let other = PackedValue.integer(Int64(key) * 7 - 8_999)
            #expect(index.node(for: other, hash: Self.noTexts.hash(other), in: batch.nodes, Self.noTexts) == nil)
        }
    }

    @Test("The index distinguishes keys with equal hashes")
    func distinguishesKeysWithEqualHashes() {
        var index = KeyIndex()
        var batch = NodeBatch(slotCount: 0)
        index.reserve(20)
        index.grow([], Self.noTexts)
        for key in 0..<20 {
            _ = batch.node(forKey: .integer(Int64(key)), keyOwner: 0, entity: 0, Self.noTexts)
            index.insert(NodeID(key), hash: 0xAAAA_BBBB_0000_0000)
        }
        for key in 0..<20 {
            let slot = PackedValue.integer(Int64(key))
            #expect(index.node(for: slot, hash: 0xAAAA_BBBB_0000_0000, in: batch.nodes, Self.noTexts) == NodeID(key))
        }
    }

    @Test("Text hashes are seeded, so keys made to collide under known constants do not collide")
    func textHashesAreSeeded() {
        // The second word cancels the hash that these constants give the first word.
        func known(_ word: UInt64) -> UInt64 {
            let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
            return product.high ^ product.low
        }
        for start in [0, 16] as [UInt64] {
            let hashes = (1...1000).map { number -> UInt64 in
                let first = UInt64(number) &* 0x0101_0101_0101_0101
                var text: [UInt8] = []
                for word in [first, known(start ^ first) ^ 0x2021_2223_2425_2627] {
                    withUnsafeBytes(of: word.littleEndian) { text += $0 }
                }
                return text.withUnsafeBufferPointer { TextPool.hash($0) }
            }
            // An index compares the upper half of the hash first.
            #expect(Set(hashes.map { $0 >> 32 }).count > 990)
        }
    }

    @Test("The hash of a text is independent of its alignment and differs from that of its prefixes")
    func textHashIgnoresAlignment() {
        let zeros = [UInt8](repeating: 0, count: 64)
        let hashes = (0..<40).map { length in
            zeros.withUnsafeBufferPointer { TextPool.hash(UnsafeBufferPointer(rebasing: $0[..<length])) }
        }
        #expect(Set(hashes).count == 40)
        let text = Array("xa text of thirty bytes, or so".utf8)
        let moved = text.withUnsafeBufferPointer { TextPool.hash(UnsafeBufferPointer(rebasing: $0[1...])) }
        #expect(Array(text[1...]).withUnsafeBufferPointer { TextPool.hash($0) } == moved)
    }

    @Test("A text in the payload and an equal text in the arena are one key")
    func equalTextsAreOneKey() {
        let payload = Array("ann bob".utf8)
        let arena = Array("annbob".utf8)
        payload.withUnsafeBufferPointer { payload in
            arena.withUnsafeBufferPointer { arena in
                let pool = TextPool(payload: payload, arena: arena)
                var batch = NodeBatch(slotCount: 0)
                let inPayload = PackedValue(kind: .payloadText, offset: 4, length: 3)
                let inArena = PackedValue(kind: .arenaText, offset: 3, length: 3)
                let nodes = [inPayload, inArena].map { batch.node(forKey: $0, keyOwner: 0, entity: 0, pool).node }
                #expect(nodes == [0, 0] && batch.nodes.count == 1)
                #expect(batch.node(forText: UnsafeBufferPointer(rebasing: arena[3...]), keyOwner: 0, pool) == 0)
                #expect(batch.node(forText: UnsafeBufferPointer(rebasing: arena[..<3]), keyOwner: 0, pool) == nil)
            }
        }
    }

    @Test("Keys of entities that declare their own key are separate")
    func keysAreSeparatePerKeyOwner() {
        var batch = NodeBatch(slotCount: 0)
        let first = batch.node(forKey: .integer(1), keyOwner: 3, entity: 3, Self.noTexts)
        #expect(first.node == 0 && first.isNew && batch.hasOneSetOfKeys)
        let second = batch.node(forKey: .integer(1), keyOwner: 4, entity: 4, Self.noTexts)
        #expect(second.node == 1 && second.isNew && !batch.hasOneSetOfKeys)
        #expect(batch.node(forKey: .integer(1), keyOwner: 3, Self.noTexts, guess: 1) == 0)
        #expect(batch.node(forKey: .integer(1), keyOwner: 5, Self.noTexts) == nil)
    }
}
