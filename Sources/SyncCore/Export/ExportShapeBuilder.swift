/// Works out the keys that rows of an entity are exported under.
///
/// Every key is one from which a sync reads the same attribute or relationship again. Where two would have the same
/// place, an attribute falls back to its own name, and a relationship is left out.
struct ExportShapeBuilder {
    private let model: Model
    private let options: ExportOptions
    private let entity: CompiledEntity
    private let destination: CompiledEntity
    private let isNested: Bool
    private var fields: [ExportShape.Field] = []

    static func shape(_ key: ExportShapeKey, of model: Model, _ options: ExportOptions) throws -> ExportShape {
        var builder = ExportShapeBuilder(key, model, options)
        return try builder.shape()
    }

    private init(_ key: ExportShapeKey, _ model: Model, _ options: ExportOptions) {
        self.model = model
        self.options = options
        entity = model.compiled.entities[key.entity]
        destination = model.compiled.entities[key.destination]
        isNested = key.isNested
    }

    private mutating func shape() throws -> ExportShape {
        let objects = entity.relationships.flatMap { AttributeNaming.objectKeys(for: $0.relationship) }.map(Self.path)
        let linkKeys = Set(
            entity.relationships.flatMap { AttributeNaming.keys(for: $0.relationship) })
        for attribute in try attributes() {
            // Inside the object of a relationship there is no telling whose value it is.
            let free = attribute.paths.first { path in
                !objects.contains { path.count > $0.count && path.starts(with: $0) } && isFree(path)
            }
            guard let free else { continue }
            let isLink = linkKeys.contains(free.joined(separator: "."))
            place(.attribute(slot: attribute.slot, transformer: attribute.transformer, isLink: isLink), at: free)
        }
        placeKind()
        let relationships = options.relationships == .none ? [] : entity.relationships
        for relationship in relationships where relationship.relationship.isExportable {
            let path = path(of: relationship.relationship)
            if isFree(path) { place(.relationship(relationship), at: path) }
        }
        return ExportShape(fields: fields)
    }

    /// The member that tells kinds apart, unless an attribute has its place.
    private mutating func placeKind() {
        guard let found = model.compiled.discriminator(of: entity.id),
            let kind = found.discriminator.kinds.first(where: { $0.entity == entity.name })
        else { return }
        let path = Self.path(found.discriminator.key)
        if isFree(path) { place(.kind(kind.value), at: path) }
    }

    // MARK: Keys

    /// The attributes to export and where each can stand, the best first. What is deeper down comes later: of `place`
    /// and `place.city` the first can only be a value.
    private func attributes() throws -> [(slot: Int, transformer: AttributeTransformer?, paths: [[String]])] {
        let attributes = try entity.slots.compactMap { slot -> (Int, AttributeTransformer?, [[String]])? in
            let attribute = model.compiled[entity.table].attributes[slot]
            let transformer = model.transformer(of: attribute)
            guard attribute.isExportable, attribute.type != .transformable, transformer?.canExport ?? true else {
                return nil
            }
            return (slot, transformer, try keys(of: attribute, slot).map(Self.path))
        }
        return attributes.sorted { ($0.2.first?.count ?? 0) < ($1.2.first?.count ?? 0) }
    }

    /// The keys that an attribute is read from again, the one to export it under first.
    private func keys(of attribute: Attribute, _ slot: Int) throws -> [String] {
        let name = attribute.name
        let key = try model.remoteKey(
            forAttribute: name, of: entity.name, case: options.keyCase, nested: isNested)
        return [key, Inflection.snakeCase(name), name].filter { key in
            let filled =
                model.compiled.names(of: destination).attribute(forKey: key)
                ?? model.compiled.names(of: entity).attribute(forKey: key)
            return filled == nil || filled?.slot == slot
        }
    }

    private func path(of relationship: Relationship) -> [String] {
        let snake = Inflection.snakeCase(relationship.name)
        let key = relationship.remoteKey ?? (options.keyCase == .snake ? snake : relationship.name)
        guard options.relationships == .nested else { return Self.path(key) }
        return Self.path(key + (options.keyCase == .snake ? "_attributes" : "Attributes"))
    }

    /// A dotted key as keys of objects in objects.
    private static func path(_ key: String) -> [String] {
        key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    // MARK: Places

    private func isFree(_ path: [String]) -> Bool {
        var fields = fields
        for (index, key) in path.enumerated() {
            guard let field = fields.first(where: { $0.key.utf8.elementsEqual(key.utf8) }) else { return true }
            guard case .object(let inner) = field.content, index + 1 < path.count else { return false }
            fields = inner
        }
        return false
    }

    private mutating func place(_ content: ExportShape.Content, at path: [String]) {
        Self.place(content, at: path[...], in: &fields)
    }

    private static func place(
        _ content: ExportShape.Content, at path: ArraySlice<String>, in fields: inout [ExportShape.Field]
    ) {
        guard let key = path.first else { return }
        guard path.count > 1 else {
            fields.append(.init(key: key, content: content))
            return
        }
        let index = fields.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
        var inner: [ExportShape.Field] = []
        if let index, case .object(let found) = fields[index].content { inner = found }
        place(content, at: path.dropFirst(), in: &inner)
        if let index {
            fields[index].content = .object(inner)
        } else {
            fields.append(.init(key: key, content: .object(inner)))
        }
    }
}
