// Lists that are not arrays under their key: objects of members, and connections.
extension PayloadMapper {
    /// What stands under a relationship's key, of a relationship that may be laid out in other ways.
    mutating func shape(
        _ tape: JSONTape, at token: Int, of relationship: RelationshipMapping, areIDs: Bool = false, _ bytes: Bytes
    ) -> RelationshipShape {
        let shape = RelationshipShape(tape, at: token, relationship, areIDs: areIDs)
        guard case .object = shape, relationship.isToMany else { return shape }
        var list: PlacedList?
        if layout?.readsConnections == true { list = PlacedList(connection: token, tape, in: bytes) }
        if list == nil, relationship.nameSlot >= 0 { list = PlacedList(membersOf: token, tape) }
        // Names with `true` are ids only where names are keys.
        if list?.hasNamesOnly == true, !relationship.areNamesKeys { return shape }
        guard let list else { return shape }
        guard tape.tokens[list.token].length > 0 else {
            // A page without records says nothing of those on others.
            return list.isWhole ? .empty(hasNulls: false) : .empty(hasNulls: true)
        }
        return .placed(list)
    }

    /// The record of an element that is not itself one.
    ///
    /// - Parameter place: The element, or of a member its name.
    func element(_ layout: ListLayout, _ tape: JSONTape, at place: Int, _ bytes: Bytes) -> Int {
        switch layout {
        case .array, .nodes: place
        case .members: place + 1
        case .edges:
            // Without a node it is a record without a key, and reported as that.
            tape.tokens[place].kind == .object ? tape.member(named: "node", of: place, in: bytes) ?? place : place
        }
    }

    /// Maps the records of a list that says nothing about links.
    mutating func mentionPlaced(
        _ list: PlacedList, _ relationship: RelationshipMapping, _ tape: JSONTape, _ entity: Int, _ context: Context,
        _ bytes: Bytes
    ) throws {
        var context = context
        context.permission = Permission(child: plan.operations)
        context.isReported = relationship.isKeyed
        var place = list.token + 1
        var index = 0
        while place < Int(tape.tokens[list.token].next) {
            let element = element(list.layout, tape, at: place, bytes)
            let first = place
            place = Int(tape.tokens[list.layout == .members ? place + 1 : place].next)
            path.push(.init(list.layout, tape, at: first, index))
            defer { path.pop() }
            index += 1
            if list.hasNamesOnly {
                if tape.tokens[element].kind != .null { _ = reference(relationship, tape, at: first, entity, bytes) }
                continue
            }
            guard tape.tokens[element].kind == .object else { continue }
            if list.layout == .members {
                context.name = Int32(truncatingIfNeeded: first)
                context.nameSlot = Int32(truncatingIfNeeded: relationship.nameSlot)
            }
            _ = try record(tape, at: element, as: relationship.destination, context, bytes)
        }
    }

    /// The name under which a record stands fills an attribute. It counts more than what the record itself says: it is
    /// what tells the members apart.
    mutating func fillName(_ tape: JSONTape, _ context: Context, as entityID: Int, _ bytes: Bytes) throws {
        let (token, slot) = (Int(context.name), Int(context.nameSlot))
        let entity = model.entities[entityID]
        let type = tables.types[entity.table.index][slot]
        let attribute = diagnostics.name(of: slot, entity)
        guard let value = value(tape, at: token, for: slot, of: entity.table, as: type, bytes), value.kind != .null
        else {
            if entity.keySlots.contains(slot) { hasUnreadableKey = true }
            scratch[slot] = .absent
            let name = diagnostics.describe(tape, at: token, bytes)
            return try reportName(
                .valueDoesNotFit, entityID, bytes,
                "the name that it stands under, \(name), does not fit \(attribute), \(MappingDiagnostics.article(type))"
            )
        }
        if scratch[slot].kind != .null, areContrary(scratch[slot], value, bytes) {
            try reportName(
                .contradictingName, entityID, bytes,
                "the record has another \(attribute) than the name it stands under; the name counts")
        }
        hasUnreadableKey = hasUnreadableKey && !entity.keySlots.contains(slot)
        scratch[slot] = value
    }

    private mutating func reportName(
        _ kind: SyncResult.Diagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String
    ) throws {
        guard diagnostics.isStrict else { return report(kind, entity, bytes, message) }
        throw diagnostics.error(entity, path: path.text(bytes, keyTables.all), message)
    }
}

/// What stands under a relationship's key, whatever the relationship.
enum RelationshipShape {
    case null
    case object
    /// A string or number.
    case scalar
    /// An array of objects, nulls aside.
    case objects
    /// An array of strings and numbers, nulls aside.
    case scalars
    /// An array without elements, or of nulls only.
    case empty(hasNulls: Bool)
    /// A list that is no array: records by name, or a connection.
    case placed(PlacedList)
    /// `true`, `false`, nested arrays, or a mixture.
    case other

    /// - Parameter areIDs: Whether only ids may stand there, so that an object is one that names its parts.
    init(_ tape: JSONTape, at index: Int, _ relationship: RelationshipMapping, areIDs: Bool = false) {
        self = Self.shape(tape, at: index)
        guard relationship.hasPartedIDs else { return }
        switch (self, relationship.isToMany) {
        case (.objects, false), (.scalars, false), (.empty, false), (.other, false):
            if tape.tokens[index].kind == .array { self = .scalar }
        case (.other, true):
            if Self.isList(of: areIDs ? [.array, .object, .null] : [.array, .null], at: index, tape) {
                self = .scalars
            }
        case (.object, false) where areIDs: self = .scalar
        case (.objects, true) where areIDs: self = .scalars
        default: break
        }
    }

    private static func shape(_ tape: JSONTape, at index: Int) -> RelationshipShape {
        switch tape.tokens[index].kind {
        case .null: .null
        case .object: .object
        case .string, .number: .scalar
        case .true_, .false_: .other
        case .array: list(tape, at: index)
        }
    }

    /// Whether all elements of an array are of these kinds.
    private static func isList(of kinds: [JSONTape.Kind], at list: Int, _ tape: JSONTape) -> Bool {
        guard tape.tokens[list].kind == .array else { return false }
        var element = list + 1
        while element < Int(tape.tokens[list].next) {
            guard kinds.contains(tape.tokens[element].kind) else { return false }
            element = Int(tape.tokens[element].next)
        }
        return true
    }

    private static func list(_ tape: JSONTape, at index: Int) -> RelationshipShape {
        var objects = false
        var scalars = false
        var element = index + 1
        let end = Int(tape.tokens[index].next)
        while element < end {
            switch tape.tokens[element].kind {
            case .null: break
            case .object: objects = true
            case .string, .number: scalars = true
            default: return .other
            }
            element = Int(tape.tokens[element].next)
        }
        switch (objects, scalars) {
        case (true, true): return .other
        case (true, false): return .objects
        case (false, true): return .scalars
        case (false, false): return .empty(hasNulls: end > index + 1)
        }
    }

    /// Whether it can stand for a relationship of this kind.
    func fits(toMany: Bool) -> Bool {
        switch self {
        case .null: true
        case .object, .scalar: !toMany
        case .objects, .scalars, .empty, .placed: toMany
        case .other: false
        }
    }
}
