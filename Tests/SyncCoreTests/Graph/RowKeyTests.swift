import Testing

@testable import SyncCore

@Suite("Row keys")
struct RowKeyTests {
    @Test("Packed integers, reals, dates and texts become row keys, and other values do not")
    func packedValuesBecomeRowKeys() {
        let texts = Array("anté".utf8)
        texts.withUnsafeBufferPointer { texts in
            let pool = TextPool(payload: texts, arena: texts)
            #expect(RowKey(.integer(-3), pool) == .integer(-3))
            #expect(RowKey(.real(1.5), pool) == .real(1.5))
            #expect(RowKey(.date(0), pool) == .text("1970-01-01 00:00:00.000"))
            #expect(RowKey(PackedValue(kind: .payloadText, offset: 0, length: 3), pool) == .text("ant"))
            #expect(RowKey(PackedValue(kind: .arenaText, offset: 3, length: 2), pool) == .text("é"))
            for slot in [PackedValue.absent, .null, PackedValue(kind: .arenaBlob, offset: 0, length: 1)] {
                #expect(RowKey(slot, pool) == nil)
            }
        }
    }

    @Test("Row keys are equal only if their bytes are equal")
    func rowKeysCompareBytes() {
        let composed = RowKey.text("\u{E9}")
        let decomposed = RowKey.text("e\u{301}")
        #expect(composed != decomposed && Set([composed, decomposed, composed]).count == 2)
        #expect(RowKey.integer(1) != .real(1) && RowKey.text("1") != .integer(1))
    }

    @Test(
        "A row key converts to the reported primary key value and back",
        arguments: [
            (RowKey.integer(5), PrimaryKeyValue.integer(5), AttributeType.integer),
            (.real(0.5), .double(0.5), .double),
            (.text("a"), .text("a"), .string),
            (.text("2024-02-29 18:29:59.999"), .text("2024-02-29T18:29:59.999Z"), .date),
        ])
    func rowKeysConvertToPrimaryKeyValues(key: RowKey, reported: PrimaryKeyValue, type: AttributeType) {
        #expect(key.recordKey(.single(type)) == reported)
        #expect(RowKey(reported, .single(type)) == key)
    }

    @Test(
        "A composite row key converts to its parts and back",
        arguments: [
            [PrimaryKeyValue.text("a"), .integer(5)], [.text("a,\"b]\\"), .integer(-1)],
            [.text("\u{1}\n\u{1F600}["), .integer(.min)],
        ])
    func compositeKeysConvertToParts(parts: [PrimaryKeyValue]) {
        let type = KeyType.composite([
            .composite([.single(.string), .single(.integer)]), .single(.double), .single(.date),
        ])
        let key = PrimaryKeyValue.composite([.composite(parts), .double(0.5), .text("2024-02-29T18:29:59.999Z")])
        let stored = RowKey(key, type)
        #expect(stored.recordKey(type) == key)
        #expect(stored.leaves(type)?.count == 4)
    }

    @Test(
        "A text that is not a list of the key's parts has no parts",
        arguments: [
            "", "[", "[]", "[\"a\"]", "[\"a\",1", "[\"a\",1]]", "[\"a\",x]", "[\"a,1]", "[1,\"a\\", "[[1],2]", "a",
        ])
    func malformedTextHasNoParts(text: String) {
        #expect(RowKey.text(text).parts([.single(.string), .single(.integer)]) == nil)
    }
}
