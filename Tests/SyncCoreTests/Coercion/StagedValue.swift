import SyncCore

/// The storage class and bytes written to a column, independent of the buffer that holds the text.
struct StagedValue: Equatable {
    enum Kind { case null, integer, real, text, date, blob }

    let kind: Kind
    let bits: UInt64
    let bytes: [UInt8]

    init(_ slot: PackedValue, payload: [UInt8] = [], arena: [UInt8]) {
        let source = slot.kind == .payloadText ? payload : arena
        let isOutside = slot.isText || slot.kind == .arenaBlob
        bytes = isOutside ? Array(source[slot.offset..<slot.offset + slot.length]) : []
        bits = isOutside ? 0 : slot.bits
        kind =
            switch slot.kind {
            case .absent, .null: .null
            case .integer: .integer
            case .real: .real
            case .payloadText, .arenaText: .text
            case .date: .date
            case .arenaBlob: .blob
            }
    }

    /// Coerces a value of a payload. Returns nil if it does not fit the type.
    init?(payload json: String, as type: AttributeType) throws {
        let payload = Array("[{\"key\":\(json)}]".utf8)
        var arena = Array("before".utf8)
        var tape = JSONTape()
        let slot = try payload.withUnsafeBufferPointer { buffer throws in
            var reader = JSONReader(buffer)
            _ = try reader.next(into: &tape)
            return Coercion.slot(tape, at: 2, as: type, bytes: buffer, arena: &arena)
        }
        guard let slot else { return nil }
        self.init(slot, payload: payload, arena: arena)
    }
}
