/// What the JSON of an entity's rows consists of: its keys, those of dotted paths as objects in objects.
package struct ExportSchema {
    /// One key of an object.
    struct Field {
        let key: String
        var content: Content
    }

    indirect enum Content {
        /// `isLink`: whether its key is also read as an id of a relationship, as `company_id` is beside `company`.
        case attribute(slot: Int, conversion: ValueConversion?, isLink: Bool)
        case relationship(CompiledRelationship)
        case object([Field])
        /// What the rows of an entity are called.
        case kind(String)
    }

    let fields: [Field]
    /// What of the entity has no place in it.
    package let omissions: [ExportOmission]
}

/// Which shape: a row of one entity is read back as one of another where a relationship or a call names an ancestor.
package struct ExportShapeKey: Hashable {
    let entity: Int
    let destination: Int
    /// Whether the row is exported inside nested attributes.
    let isNested: Bool

    package init(entity: Int, destination: Int, isNested: Bool) {
        self.entity = entity
        self.destination = destination
        self.isNested = isNested
    }
}

/// Works out the keys that rows of an entity are exported under.
///
/// Every key is one from which a sync reads the same attribute or relationship again. Where two would have the same
/// place, an attribute falls back to its own name, and a relationship is left out.
package struct ExportSchemaBuilder {
    private let model: SyncModel
    private let options: ExportOptions
    private let entity: CompiledEntity
    private let destination: CompiledEntity
    private let isNested: Bool
    private var fields: [ExportSchema.Field] = []
    private var omissions: [ExportOmission] = []
    /// How keys are spelled where the rows are read back, if the model says.
    private let rule: KeyCase?

    package static func shape(
        _ key: ExportShapeKey, of model: SyncModel, _ options: ExportOptions
    ) throws -> ExportSchema {
        var builder = ExportSchemaBuilder(key, model, options)
        return try builder.shape()
    }

    private init(_ key: ExportShapeKey, _ model: SyncModel, _ options: ExportOptions) {
        self.model = model
        self.options = options
        entity = model.compiled.entities[key.entity]
        destination = model.compiled.entities[key.destination]
        isNested = key.isNested
        rule = model.compiled.rules(of: destination).keys
    }

    private mutating func shape() throws -> ExportSchema {
        let objects = entity.relationships.flatMap { AttributeNaming.objectKeys(for: $0.relationship, rule) }.map(
            Self.path)
        let linkKeys = Set(
            entity.relationships.flatMap { AttributeNaming.keys(for: $0.relationship, rule) }
                .map { RemoteKeyPath.text(Self.path($0)) })
        for attribute in try attributes() {
            // Inside the object of a relationship there is no telling whose value it is.
            let free = attribute.paths.first { path in
                !objects.contains { path.count > $0.count && path.starts(with: $0) } && isFree(path)
            }
            guard let free else {
                omissions.append(.init(entity, attribute.name, .noKey))
                continue
            }
            let isLink = linkKeys.contains(RemoteKeyPath.text(free))
            place(.attribute(slot: attribute.slot, conversion: attribute.conversion, isLink: isLink), at: free)
        }
        placeKind()
        // Without the rows that its key is made of a row could not be told apart.
        let relationships =
            options.relationships == .none
            ? entity.relationships.filter { model.compiled.isKeyPart($0) } : entity.relationships
        for relationship in relationships where relationship.relationship.isExportable || options.exportsAll {
            let path = path(of: relationship.relationship)
            if isFree(path) {
                place(.relationship(relationship), at: path)
            } else {
                omissions.append(.init(entity, relationship.name, .noKey))
            }
        }
        return ExportSchema(fields: fields, omissions: omissions)
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
    private mutating func attributes() throws -> [Candidate] {
        var attributes: [Candidate] = []
        for slot in entity.slots {
            let attribute = model.compiled[entity.table].attributes[slot]
            guard attribute.isExportable || options.exportsAll else { continue }
            let conversion = model.conversion(of: attribute)
            guard attribute.type != .transformable, conversion?.canExport ?? true else {
                omissions.append(.init(entity, attribute.name, .noWayBack))
                continue
            }
            attributes.append(
                Candidate(
                    slot: slot, name: attribute.name, conversion: conversion.flatMap(used),
                    paths: try keys(of: attribute, slot).map(Self.path)))
        }
        return attributes.sorted { ($0.paths.first?.count ?? 0) < ($1.paths.first?.count ?? 0) }
    }

    private struct Candidate {
        let slot: Int
        let name: String
        let conversion: ValueConversion?
        let paths: [[String]]
    }

    /// The options may ask for another format than the attribute's.
    private func used(_ conversion: ValueConversion) -> ValueConversion? {
        let used = options.dateFormat == .attribute ? conversion : conversion.withoutFormat
        return used.flatMap { $0.isUnchangedOnExport ? nil : $0 }
    }

    /// The keys that an attribute is read from again, the one to export it under first.
    private func keys(of attribute: SyncModel.Attribute, _ slot: Int) throws -> [String] {
        let name = attribute.name
        let key = try model.remoteKey(
            forAttribute: name, of: entity.name, case: options.keyCase ?? rule ?? .snake, nested: isNested)
        return [key, Inflection.snakeCase(name), name].filter { key in
            let filled =
                model.compiled.names(of: destination).attribute(forPath: key)
                ?? model.compiled.names(of: entity).attribute(forPath: key)
            return filled == nil || filled?.slot == slot
        }
    }

    private func path(of relationship: SyncModel.Relationship) -> [String] {
        let spelling = options.keyCase ?? rule ?? .snake
        let isAsNamed = spelling == .camel && rule != .camel
        let key = relationship.remoteKey ?? (isAsNamed ? relationship.name : spelling.key(for: relationship.name))
        guard options.relationships == .nested else { return Self.path(key) }
        return Self.path(key + Self.nestedEnding(spelling))
    }

    private static func nestedEnding(_ spelling: KeyCase) -> String {
        switch spelling {
        case .snake, .exact: "_attributes"
        case .camel, .pascal: "Attributes"
        case .kebab: "-attributes"
        }
    }

    /// A dotted key as keys of objects in objects.
    private static func path(_ key: String) -> [String] { RemoteKeyPath.keys(key) }

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

    private mutating func place(_ content: ExportSchema.Content, at path: [String]) {
        Self.place(content, at: path[...], in: &fields)
    }

    private static func place(
        _ content: ExportSchema.Content, at path: ArraySlice<String>, in fields: inout [ExportSchema.Field]
    ) {
        guard let key = path.first else { return }
        guard path.count > 1 else {
            fields.append(.init(key: key, content: content))
            return
        }
        let index = fields.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
        var inner: [ExportSchema.Field] = []
        if let index, case .object(let found) = fields[index].content { inner = found }
        place(content, at: path.dropFirst(), in: &inner)
        if let index {
            fields[index].content = .object(inner)
        } else {
            fields.append(.init(key: key, content: .object(inner)))
        }
    }
}

/// The keys that records are exported under, for forms that name them once, before the first record.
package enum ExportKeys {
    /// The keys of an entity's records in their order, those of its sub-entities behind them, and which of them have numbers.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    package static func keys(
        of name: String, in model: SyncModel, _ options: ExportOptions
    ) throws -> [(name: String, isNumeric: Bool)] {
        let entity = try model.compiled.entity(named: name)
        var keys: [(name: String, isNumeric: Bool)] = []
        var known: Set<String> = []
        for id in [entity.id] + entity.family where !model.compiled.entities[id].isAbstract {
            let key = ExportShapeKey(entity: id, destination: entity.id, isNested: false)
            for field in try ExportSchemaBuilder.shape(key, of: model, options).fields
            where known.insert(field.key).inserted {
                var isNumeric = false
                if case .attribute(let slot, nil, _) = field.content {
                    isNumeric = model.compiled[entity.table].attributes[slot].type.isNumeric
                }
                keys.append((field.key, isNumeric))
            }
        }
        return keys
    }
}

extension AttributeType {
    /// Whether its values are numbers.
    package var isNumeric: Bool { self == .integer || self == .double || self == .decimal }
}

/// The values of attributes as an export writes them.
package struct ExportValues {
    private let dates: ExportDates

    package init(_ options: ExportOptions = ExportOptions()) { dates = ExportDates(options) }

    /// - Returns: Nil for a value that cannot be written.
    package func json(_ value: StoredValue, _ conversion: ValueConversion?) -> JSONValue? {
        switch (value, conversion) {
        case (.null, _): .null
        case (_, let conversion?): conversion.json(value)
        case (.date(let date), nil): dates.text(date)
        case (.double(let number), nil) where !number.isFinite: .null
        case (_, nil): value.jsonForm
        }
    }
}
