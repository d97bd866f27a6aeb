import Foundation

/// The primary key of a row, or its surrogate key. Foreign keys store the surrogate key of a row that has one.
@usableFromInline
package enum RowKey: Sendable {
    /// An integer key, or a surrogate key.
    case integer(Int64)
    /// A key of type double.
    case real(Double)
    /// A key of any other type. Dates have the form that columns store: `2024-02-29 18:29:59.999`. A composite key is
    /// the text that ``CompositeKeyText`` writes.
    case text(String)

    /// Creates the key of a node from its packed value; nil for a value that cannot be a key.
    package init?(_ slot: PackedValue, _ pool: TextPool) {
        switch slot.kind {
        case .integer: self = .integer(slot.integer)
        case .real: self = .real(slot.real)
        case .date: self = .text(DateText.string(slot.integer))
        case .payloadText, .arenaText: self = .text(String(decoding: pool.bytes(slot), as: UTF8.self))
        case .absent, .null, .arenaBlob: return nil
        }
    }

    /// Creates a key from the form in which results report it.
    package init(_ key: PrimaryKeyValue, _ type: KeyType?) {
        switch key {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .real(value)
        case .text(let text):
            let milliseconds =
                type == .single(.date) ? Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) } : nil
            self = .text(milliseconds.map(DateText.string) ?? text)
        case .composite(let parts):
            var text = CompositeKeyText()
            text.append(parts, type)
            self = .text(text.text)
        }
    }

    /// Returns the key in the form in which results report it. Dates have the form `2024-02-29T18:29:59.999Z`.
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
    /// Creates the key of a node from its packed value; nil for a value that cannot be a key.
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
    /// Returns the parts of a composite key; nil if the key is not a list with one readable part for each type.
    package func parts(_ types: [KeyType]) -> [RowKey]? {
        guard case .text(let text) = self else { return nil }
        return CompositeKeyReader.parts(of: text, types)
    }

    /// Returns the single values of a key in order, including the values inside composite parts. Returns nil if a
    /// composite key cannot be read as this type.
    package func leaves(_ type: KeyType) -> [RowKey]? {
        guard case .composite(let types) = type else { return [self] }
        guard let parts = parts(types) else { return nil }
        let leaves = zip(parts, types).map { $0.leaves($1) }
        return leaves.contains { $0 == nil } ? nil : leaves.flatMap { $0 ?? [] }
    }

    /// Returns the key as a packed value. Text that is not a date is appended to the arena.
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
    /// Returns whether two keys are equal. Strings are compared byte for byte, as in the database.
    @usableFromInline
    package static func == (left: RowKey, right: RowKey) -> Bool {
        switch (left, right) {
        case (.integer(let l), .integer(let r)): l == r
        case (.real(let l), .real(let r)): l == r
        case (.text(let l), .text(let r)): l.hasBytes(of: r)
        default: false
        }
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .text(let text):
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }
}

/// A row of a table, identified by its row key.
package struct StoredRow: Hashable, Sendable {
    package var table: TableID
    package var key: RowKey

    package init(table: TableID, key: RowKey) {
        self.table = table
        self.key = key
    }
}

// MARK: - StoreCapabilities+Keys

extension StoreCapabilities {
    /// Returns whether the store can keep a primary key.
    package func keeps(_ key: RowKey, _ type: KeyType?) -> Bool {
        guard keepsValues(of: key, type) else { return false }
        guard case .composite? = type, case .text(let text) = key, let keyLength else { return true }
        return text.utf8.count <= keyLength
    }

    /// Returns whether the store can keep each value of a primary key. A composite key of such values can be too long.
    func keepsValues(of key: RowKey, _ type: KeyType?) -> Bool {
        guard !areUnlimited, let type else { return true }
        switch type {
        case .single(let single):
            guard let limit = limit(of: single, isKey: true) else { return true }
            var arena: [UInt8] = []
            let packed = key.slot(type, arena: &arena)
            return arena.withUnsafeBufferPointer {
                limit.admits(packed, TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: $0))
            }
        case .composite(let types):
            return key.parts(types).map { zip($0, types).allSatisfy { keepsValues(of: $0, $1) } } ?? true
        }
    }
}

// MARK: - CompiledModel+Keys

// Keys as callers and payloads state them: one value, or for a composite key an array in model order, or an object.
extension CompiledModel {
    /// Returns the row key that a JSON value states; nil if the value is not a valid key of the entity, or if the store
    /// cannot keep the key.
    package func rowKey(_ json: JSONValue, of entity: CompiledEntity, keeping capabilities: StoreCapabilities)
        -> RowKey?
    {
        rowKey(json, of: entity).flatMap { capabilities.keeps($0, keyType(of: entity.id)) ? $0 : nil }
    }

    /// Returns the row key that a JSON value states; nil if the value is not a valid key of the entity.
    package func rowKey(_ json: JSONValue, of entity: CompiledEntity) -> RowKey? {
        if let slot = entity.keySlot, let key = plainKey(json, self[entity.table].attributes[slot].type) { return key }
        var arena: [UInt8] = []
        guard let slot = keySlot(json, of: entity, &arena) else { return nil }
        return arena.withUnsafeBufferPointer {
            RowKey(slot, TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: $0))
        }
    }

    /// Returns the key that a value states if it needs no conversion; nil otherwise.
    private func plainKey(_ json: JSONValue, _ type: AttributeType) -> RowKey? {
        switch (json, type) {
        case (.string(let text), .string): return .text(text)
        case (.number(var text), .integer):
            // Other numbers, such as `-1`, `1e3` or `01`, are checked first.
            guard let first = text.utf8.first, first != .digit0, text.utf8.count <= 18,
                text.utf8.allSatisfy(\.isDigit)
            else { return nil }
            return text.withUTF8 { NumberText.integer($0) }.map(RowKey.integer)
        default: return nil
        }
    }

    /// Returns the key that an object states. Parts that are missing, null or invalid come from `current`.
    ///
    /// - Parameter capabilities: The values that the store can keep. Parts with other values are invalid.
    package func key(
        of entity: CompiledEntity, in object: JSONValue, else current: RowKey,
        keeping capabilities: StoreCapabilities = .unlimited
    ) -> RowKey {
        guard let key = entity.compositeKey, case .array(let parts) = current.recordKey(keyType(of: entity.id)).json
        else {
            return rowKey(object, of: entity) ?? current
        }
        var given = parts
        for (index, part) in key.parts.enumerated() where given.indices.contains(index) {
            guard let value = value(of: part, object, entity), value != .null else { continue }
            given[index] = value
            let changed = rowKey(.array(given), of: entity)
            let isValid = changed.map { capabilities.keepsValues(of: $0, keyType(of: entity.id)) } ?? false
            if !isValid { given[index] = parts[index] }
        }
        return rowKey(.array(given), of: entity) ?? current
    }

    /// Returns the key that a JSON value states as a packed value; nil if the value is not a valid key of the entity.
    /// Its text is appended to the arena.
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

    /// Appends the composite key that a JSON value states.
    ///
    /// - Returns: False if the value is not a composite key of the entity.
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

    /// Returns a description of the entity's key, for messages.
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

    /// Returns the value of a key part in an object; nil if there is none.
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
        let found = members.filter { names.relationships(readFrom: $0.key).contains { $0.index == index } }
        return (found.first { $0.value != .null } ?? found.first)?.value
    }
}
