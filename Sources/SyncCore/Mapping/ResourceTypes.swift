/// Which entities the types of JSON:API resources are: `people`, `blog-posts`, `blogPosts`.
package struct ResourceTypes: Sendable {
    /// By the type an entity is declared to have, and by its name in the ways types are spelled.
    private let declared: [String: Int]
    private let spelled: [String: Int]

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
        self.declared = declared
        self.spelled = spelled
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
