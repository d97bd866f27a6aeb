import Foundation

extension StoredValue {
    /// The value of a staged slot.
    package init?(_ slot: Slot, as type: AttributeType, _ pool: TextPool) {
        switch slot.kind {
        case .absent: return nil
        case .null: self = .null
        case .integer: self = type == .boolean ? .boolean(slot.integer != 0) : .integer(slot.integer)
        case .real: self = .double(slot.real)
        case .date: self = .date(Date(milliseconds: slot.integer))
        case .arenaBlob: self = .binary(Data(pool.bytes(slot)))
        case .payloadText, .arenaText: self.init(text: String(decoding: pool.bytes(slot), as: UTF8.self), as: type)
        }
    }

    /// The value of a column that stores text.
    package init?(text: String, as type: AttributeType) {
        switch type {
        case .decimal:
            guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else { return nil }
            self = .decimal(value)
        case .uuid:
            guard let value = UUID(uuidString: text) else { return nil }
            self = .uuid(value)
        case .url: self = .url(text)
        case .json, .transformable:
            guard let value = try? JSONValue(parsing: text) else { return nil }
            self = .json(value)
        case .date:
            guard let value = Array(text.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) }) else {
                return nil
            }
            self = .date(Date(milliseconds: value))
        case .integer, .double, .boolean, .string, .binary: self = .string(text)
        }
    }

    /// The value as a slot, its text in the arena.
    package func slot(arena: inout [UInt8]) -> Slot {
        switch self {
        case .null: return .null
        case .integer(let value): return .integer(value)
        case .double(let value): return .real(value)
        case .boolean(let value): return .integer(value ? 1 : 0)
        case .string(let text), .url(let text): return Coercion.append(text.utf8, to: &arena)
        case .uuid(let value): return Coercion.append(value.uuidString.utf8, to: &arena)
        case .date(let value): return value.milliseconds.map(Slot.date) ?? .null
        case .json(let value): return Coercion.append(CanonicalJSON.bytes(value), to: &arena)
        case .decimal(let value):
            var text: [UInt8] = []
            let isNumber = Array("\(value)".utf8).withUnsafeBufferPointer { DecimalText.append($0, to: &text) }
            return isNumber ? Coercion.append(text, to: &arena) : .null
        case .binary(let data):
            let start = arena.count
            arena += data
            return Slot(kind: .arenaBlob, length: UInt32(truncatingIfNeeded: data.count), bits: UInt64(start))
        }
    }
}
