/// Which entities the types of JSON:API resources are: `people`, `blog-posts`, `blogPosts`.
package struct ResourceTypes: Sendable {
    /// By the type an entity is declared to have, and by its name in the ways types are spelled.
    private let declared: [String: Int]
    private let spelled: [String: Int]
    /// The entities that relationships lead to and whose key is not what a resource has as its `id`.
    let otherwiseKeyed: Set<Int>

    package init(_ model: CompiledModel) {
        var declared: [String: Int] = [:]
        var spelled: [String: Int] = [:]
        for entity in model.entities {
            if let type = model.declarations[entity.id].resourceType { declared[type] = declared[type] ?? entity.id }
        }
        // A name itself counts before its singular.
        for isSingular in [false, true] {
            for entity in model.entities {
                let name = Self.spelling(isSingular ? Inflection.singular(entity.name) : entity.name)
                spelled[name] = spelled[name] ?? entity.id
            }
        }
        otherwiseKeyed = Self.otherwiseKeyed(model)
        self.declared = declared
        self.spelled = spelled
    }

    private static func otherwiseKeyed(_ model: CompiledModel) -> Set<Int> {
        let destinations = Set(model.entities.flatMap { $0.relationships.map(\.destination) })
        let keyed = model.entities.filter { entity in
            entity.isKeyed
                && (entity.keySlot == nil || model.names(of: entity).attribute(forKey: "id")?.slot != entity.keySlot)
        }
        return Set(
            keyed.map(\.id).filter { id in
                destinations.contains { model.entity($0, isKindOf: id) || model.entity(id, isKindOf: $0) }
            })
    }

    /// The entity of a type; nil if there is none.
    package func entity(of type: String) -> Int? {
        if let entity = declared[type] { return entity }
        let snake = type.replacing("-", with: "_")
        return spelled[Self.spelling(type)] ?? spelled[Self.spelling(Inflection.singular(snake))]
    }

    /// Of a name in any case, with or without separators: its letters and digits.
    private static func spelling(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
}
