import Foundation

/// The primary key of a table's row, as foreign keys hold it.
package enum RowKey: Sendable {
    /// Of an integer key, or hidden: SQLite's rowid.
    case integer(Int64)
    /// Of a double key.
    case real(Double)
    /// Of any other key, a date's as columns have it: `2024-02-29 18:29:59.999`. As the key of an entity also one of
    /// several parts, which ``CompositeKeyText`` writes.
    case text(String)

    /// The key a staged row is stored under; nil for a value that cannot be one.
    package init?(_ slot: PackedValue, _ pool: TextPool) {
        switch slot.kind {
        case .integer: self = .integer(slot.integer)
        case .real: self = .real(slot.real)
        case .date: self = .text(DateText.string(slot.integer))
        case .payloadText, .arenaText: self = .text(String(decoding: pool.bytes(slot), as: UTF8.self))
        case .absent, .null, .arenaBlob: return nil
        }
    }

    /// The key that a result reports so.
    package init(_ key: PrimaryKeyValue, _ type: KeyType?) {
        switch key {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .real(value)
        case .text(let text):
            let milliseconds =
                type == .single(.date) ? Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) } : nil
            self = .text(milliseconds.map(DateText.string) ?? text)
        case .parts(let parts):
            var text = CompositeKeyText()
            text.append(parts, type)
            self = .text(text.text)
        }
    }

    /// The key as a result reports it: dates as `2024-02-29T18:29:59.999Z`.
    package func recordKey(_ type: KeyType?) -> PrimaryKeyValue {
        switch self {
        case .integer(let value): return .integer(value)
        case .real(let value): return .double(value)
        case .text(let text):
            if case .composite(let types)? = type {
                return CompositeKeyReader.recordKey(of: text, types) ?? .text(text)
            }
            guard type == .single(.date) else { return .text(text) }
            let milliseconds = Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) }
            return .text(milliseconds.map(DateText.iso) ?? text)
        }
    }
}

extension PrimaryKeyValue {
    /// The key of a staged row; nil for a value that cannot be one.
    package init?(_ slot: PackedValue, _ type: KeyType?, _ pool: TextPool) {
        if case .composite(let types)? = type, slot.isText,
            let key = CompositeKeyReader.recordKey(of: pool.bytes(slot), types)
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
        return CompositeKeyReader.parts(of: text, types)
    }

    /// The parts of a key, and of the keys among them, in order; nil for text that is none.
    package func leaves(_ type: KeyType) -> [RowKey]? {
        guard case .composite(let types) = type else { return [self] }
        guard let parts = parts(types) else { return nil }
        let leaves = zip(parts, types).map { $0.leaves($1) }
        return leaves.contains { $0 == nil } ? nil : leaves.flatMap { $0 ?? [] }
    }

    /// The key as a staged value, its text in the arena.
    func slot(_ type: KeyType?, arena: inout [UInt8]) -> PackedValue {
        switch self {
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .text(let text):
            let date =
                type == .single(.date) ? Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) } : nil
            return date.map(PackedValue.date) ?? Coercion.append(text.utf8, to: &arena)
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

/// A row of a table, by its row key.
package struct StoredRow: Hashable, Sendable {
    package var table: TableID
    package var key: RowKey

    package init(table: TableID, key: RowKey) {
        self.table = table
        self.key = key
    }
}

// MARK: - CompiledModel+Keys

// Keys as callers and payloads write them: a value; of several parts a list in the order of the model, or an object.
extension CompiledModel {
    /// The key that JSON is for an entity; nil if it is none.
    package func rowKey(_ json: JSONValue, of entity: CompiledEntity) -> RowKey? {
        var arena: [UInt8] = []
        guard let slot = keySlot(json, of: entity, &arena) else { return nil }
        return arena.withUnsafeBufferPointer {
            RowKey(slot, TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: $0))
        }
    }

    /// The key of the parts that an object has, and those of another key for the others.
    package func key(of entity: CompiledEntity, in object: JSONValue, else current: RowKey) -> RowKey {
        guard let key = entity.compositeKey, case .array(let parts) = current.recordKey(keyType(of: entity.id)).json
        else {
            return rowKey(object, of: entity) ?? current
        }
        let given = zip(key.parts, parts).map { part, known in
            value(of: part, object, entity).flatMap { $0 == .null ? nil : $0 } ?? known
        }
        return rowKey(.array(given), of: entity) ?? current
    }

    /// The same as a staged value, whose text is in the arena.
    func keySlot(_ json: JSONValue, of entity: CompiledEntity, _ arena: inout [UInt8]) -> PackedValue? {
        if let slot = entity.keySlot {
            var json = json
            if case .object = json { json = value(ofPart: slot, json, entity) ?? .null }
            guard let value = Coercion.storedValue(json, as: self[entity.table].attributes[slot].type), !value.isNull
            else { return nil }
            return value.slot(arena: &arena)
        }
        var text = CompositeKeyText()
        guard append(json, of: entity, to: &text) else { return nil }
        return Coercion.append(text.bytes, to: &arena)
    }

    /// - Returns: Whether it is a key of several parts.
    private func append(_ json: JSONValue, of entity: CompiledEntity, to text: inout CompositeKeyText) -> Bool {
        guard let key = entity.compositeKey, let values = values(of: key, json, entity) else { return false }
        text.open()
        for (part, value) in zip(key.parts, values) {
            switch part {
            case .attribute(let slot):
                var arena: [UInt8] = []
                guard let value = Coercion.storedValue(value, as: self[entity.table].attributes[slot].type),
                    append(value.slot(arena: &arena), arena, isComposite: false, to: &text)
                else { return false }
            case .relationship(let index):
                let target = entities[entity.relationships[index].destination]
                var arena: [UInt8] = []
                guard let slot = keySlot(value, of: target, &arena),
                    append(slot, arena, isComposite: target.compositeKey != nil, to: &text)
                else { return false }
            }
        }
        text.close()
        return true
    }

    private func append(_ slot: PackedValue, _ arena: [UInt8], isComposite: Bool, to text: inout CompositeKeyText)
        -> Bool
    {
        arena.withUnsafeBufferPointer {
            let pool = TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: $0)
            return text.append(slot, isComposite: isComposite, pool)
        }
    }

    /// What a key of an entity is, for messages.
    package func keyDescription(of entity: CompiledEntity) -> String {
        if let slot = entity.keySlot {
            let attribute = self[entity.table].attributes[slot]
            return "whose '\(attribute.name)' is of type \(attribute.type)"
        }
        return "which is a list of \(keyNames(of: entity).joined(separator: ", "))"
    }

    private func values(of key: CompositeKey, _ json: JSONValue, _ entity: CompiledEntity) -> [JSONValue]? {
        switch json {
        case .array(let elements): return elements.count == key.parts.count ? elements : nil
        case .object:
            let values = key.parts.map { value(of: $0, json, entity) }
            return values.contains { $0 == nil } ? nil : values.compactMap(\.self)
        default: return key.parts.count == 1 ? [json] : nil
        }
    }

    /// What an object says of a part of a key; nil if it does not.
    func value(of part: CompositeKey.Part, _ json: JSONValue, _ entity: CompiledEntity) -> JSONValue? {
        switch part {
        case .attribute(let slot): value(ofPart: slot, json, entity)
        case .relationship(let index): value(ofRelationship: index, json, entity)
        }
    }

    private func value(ofPart slot: Int, _ json: JSONValue, _ entity: CompiledEntity) -> JSONValue? {
        guard case .object(let members) = json else { return nil }
        let names = names(of: entity)
        let found = members.compactMap { member in
            names.attribute(forKey: member.key).flatMap { $0.slot == slot ? (member.value, $0.strength) : nil }
        }
        return found.min { $0.1 < $1.1 }?.0
    }

    private func value(ofRelationship index: Int, _ json: JSONValue, _ entity: CompiledEntity) -> JSONValue? {
        guard case .object(let members) = json else { return nil }
        let names = names(of: entity)
        return members.first { names.relationships(readFrom: $0.key).contains { $0.index == index } }?.value
    }
}
