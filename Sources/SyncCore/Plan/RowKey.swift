import Foundation

/// The primary key of a table's row, as foreign keys hold it.
package enum RowKey: Sendable {
    /// Of an integer key, or hidden: SQLite's rowid.
    case integer(Int64)
    /// Of a double key.
    case real(Double)
    /// Of any other key, a date's as columns have it: `2024-02-29 18:29:59.999`. As the key of an entity also one of
    /// several parts, which ``KeyPartsText`` writes.
    case text(String)

    /// The key a staged row is stored under; nil for a value that cannot be one.
    package init?(_ slot: Slot, _ pool: TextPool) {
        switch slot.kind {
        case .integer: self = .integer(slot.integer)
        case .real: self = .real(slot.real)
        case .date: self = .text(DateText.string(slot.integer))
        case .payloadText, .arenaText: self = .text(String(decoding: pool.bytes(slot), as: UTF8.self))
        case .absent, .null, .arenaBlob: return nil
        }
    }

    /// The key that a result reports so.
    package init(_ key: RecordKey, _ type: KeyType?) {
        switch key {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .real(value)
        case .text(let text):
            let milliseconds =
                type == .single(.date) ? Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) } : nil
            self = .text(milliseconds.map(DateText.string) ?? text)
        case .parts(let parts):
            var text = KeyPartsText()
            text.append(parts, type)
            self = .text(text.text)
        }
    }

    /// The key as a result reports it: dates as `2024-02-29T18:29:59.999Z`.
    package func recordKey(_ type: KeyType?) -> RecordKey {
        switch self {
        case .integer(let value): return .integer(value)
        case .real(let value): return .double(value)
        case .text(let text):
            if case .composite(let types)? = type { return KeyPartsReader.recordKey(of: text, types) ?? .text(text) }
            guard type == .single(.date) else { return .text(text) }
            let milliseconds = Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) }
            return .text(milliseconds.map(DateText.iso) ?? text)
        }
    }
}

extension RecordKey {
    /// The key of a staged row; nil for a value that cannot be one.
    package init?(_ slot: Slot, _ type: KeyType?, _ pool: TextPool) {
        if case .composite(let types)? = type, slot.isText,
            let key = KeyPartsReader.recordKey(of: pool.bytes(slot), types)
        {
            self = key
        } else if let key = RowKey(slot, pool) {
            self = key.recordKey(type)
        } else {
            return nil
        }
    }
}

extension RowKey {
    /// The parts of a key of several; nil for text that is none.
    package func parts(_ types: [KeyType]) -> [RowKey]? {
        guard case .text(let text) = self else { return nil }
        return KeyPartsReader.parts(of: text, types)
    }

    /// The parts of a key, and of the keys among them, in order; nil for text that is none.
    package func leaves(_ type: KeyType) -> [RowKey]? {
        guard case .composite(let types) = type else { return [self] }
        guard let parts = parts(types) else { return nil }
        let leaves = zip(parts, types).map { $0.leaves($1) }
        return leaves.contains { $0 == nil } ? nil : leaves.flatMap { $0 ?? [] }
    }

    /// The key as a staged value, its text in the arena.
    func slot(_ type: KeyType?, arena: inout [UInt8]) -> Slot {
        switch self {
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .text(let text):
            let date =
                type == .single(.date) ? Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) } : nil
            return date.map(Slot.date) ?? Coercion.append(text.utf8, to: &arena)
        }
    }
}

extension RowKey: Hashable {
    /// Texts are compared by their bytes, as the database does.
    package static func == (left: RowKey, right: RowKey) -> Bool {
        switch (left, right) {
        case (.integer(let l), .integer(let r)): l == r
        case (.real(let l), .real(let r)): l == r
        case (.text(let l), .text(let r)): l.hasBytes(of: r)
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .text(let text):
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }
}
