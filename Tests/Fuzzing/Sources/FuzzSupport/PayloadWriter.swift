import SyncCore

/// Generates records of the model from the bytes of an input. The records have few keys, so that they refer to the same
/// rows, and some values of the wrong type.
///
/// Random bytes are rarely JSON, and random JSON rarely contains relationships.
struct PayloadWriter {
    private static let maximumDepth = 4

    private let model = FuzzModel.model.compiled
    private var choices: UnsafeBufferPointer<UInt8>.Iterator
    private var text = ""

    /// Returns the records that these bytes choose, as a JSON array or as NDJSON.
    static func payload(_ choices: UnsafeBufferPointer<UInt8>, of entity: String, asLines: Bool) -> [UInt8] {
        var writer = PayloadWriter(choices: choices.makeIterator())
        guard let entity = writer.model.entityID(entity) else { return [] }
        let count = writer.choose(6)
        if !asLines { writer.text += "[" }
        for index in 0..<count {
            if index > 0 { writer.text += asLines ? "\n" : "," }
            writer.record(entity, depth: 0)
        }
        if !asLines { writer.text += "]" }
        return Array(writer.text.utf8)
    }

    private init(choices: UnsafeBufferPointer<UInt8>.Iterator) { self.choices = choices }

    /// Returns a number below `count`; 0 after the last byte.
    private mutating func choose(_ count: Int) -> Int { Int(choices.next() ?? 0) % count }

    // MARK: Records

    private mutating func record(_ id: Int, depth: Int) {
        let entity = model.entities[id]
        let attributes = model[entity.table].attributes
        var isFirst = true
        text += "{"
        if let slot = entity.keySlot, choose(16) < 15 {
            member(attributes[slot].remoteKey ?? attributes[slot].name, &isFirst) { $0.key(attributes[slot].type) }
        }
        for _ in 0..<choose(5) {
            let choice = choose(entity.slots.count + 3 * entity.relationships.count)
            if choice < entity.slots.count {
                let attribute = attributes[entity.slots[choice]]
                member(attribute.remoteKey ?? attribute.name, &isFirst) { $0.value(attribute.type) }
            } else {
                let relationship = entity.relationships[(choice - entity.slots.count) / 3]
                self.relationship(relationship, depth: depth, &isFirst)
            }
        }
        text += "}"
    }

    /// Each dot of a key begins a nested object.
    private mutating func member(_ key: String, _ isFirst: inout Bool, _ value: (inout PayloadWriter) -> Void) {
        if !isFirst { text += "," }
        isFirst = false
        let parts = key.split(separator: ".")
        text += parts.map { "\"\($0)\":" }.joined(separator: "{")
        value(&self)
        text += String(repeating: "}", count: parts.count - 1)
    }

    private mutating func relationship(_ relationship: CompiledRelationship, depth: Int, _ isFirst: inout Bool) {
        let entity = model.entities[relationship.destination]
        let key = entity.keySlot.map { model[entity.table].attributes[$0].type }
        let count = relationship.isToMany ? choose(4) : 1
        let form = choose(8)
        let byID = key != nil && (form < 3 || depth >= Self.maximumDepth)
        // A remote key is also used for IDs.
        let idKeys = byID ? AttributeNaming.idKeys(for: relationship.relationship) : []
        let name = idKeys.first ?? AttributeNaming.objectKeys(for: relationship.relationship)[0]
        member(name, &isFirst) { writer in
            if form == 7 || depth >= Self.maximumDepth && !byID {
                writer.text += "null"
                return
            }
            if relationship.isToMany { writer.text += "[" }
            for index in 0..<count {
                if index > 0 { writer.text += "," }
                if byID, let key { writer.key(key) } else { writer.record(entity.id, depth: depth + 1) }
            }
            if relationship.isToMany { writer.text += "]" }
        }
    }

    // MARK: Values

    private mutating func key(_ type: AttributeType) {
        let number = 1 + choose(6)
        switch type {
        case .integer: text += choose(8) == 7 ? "\"\(number)\"" : "\(number)"
        case .double: text += "\(number).5"
        case .decimal: text += choose(4) == 3 ? "\"\(number).10\"" : "\(number).1"
        case .date: text += choose(4) == 3 ? "\(1_704_067_200 + 86_400 * number)" : "\"2024-01-0\(number + 1)\""
        case .uuid: text += "\"6f9619ff-8b86-d011-b42d-00c04fc964f\(number)\""
        default: text += number == 1 ? "\"g\"" : "\"\(number)\""
        }
    }

    private mutating func value(_ type: AttributeType) {
        switch choose(6) {
        case 0: text += "null"
        case 1: text += ["\"x\"", "[]", "true", "1e400"][choose(4)]
        default: key(type)
        }
    }
}
