// Maps the relationships of a record: nested records, IDs, and the links to them.
extension PayloadMapper {
    /// Maps the value of a relationship.
    ///
    /// - Parameters:
    ///   - owner: The record that has the relationship; nil if that record is skipped.
    ///   - occurrence: The occurrence of that record; -1 if occurrences are not tracked.
    mutating func map(
        _ candidate: RecordReader.Candidate, _ tape: JSONTape, of owner: Mapped?, _ occurrence: Int32, as entity: Int,
        _ context: Context, kindsFrom firstKind: Int, _ bytes: Bytes
    ) throws {
        var relationship = tables.relationships[entity][candidate.relationship]
        let giver = giver(of: owner, by: relationship, context)
        sequence += 1
        if candidate.outerKey >= 0 { reader.pushKey(tape, candidate.outerKey) }
        reader.pushKey(tape, candidate.key, candidate.table)
        defer {
            reader.path.pop()
            if candidate.outerKey >= 0 { reader.path.pop() }
        }
        if reader.kindsBeside.count > firstKind, !narrow(&relationship, candidate, tape, from: firstKind, entity, bytes)
        {
            guard let owner else { return }
            let statement = LinkAssertionBuilder(relationship, of: owner, sequence)
            return linkKeyPart(
                relationship, statement, tape, at: candidate.value, isReference: candidate.isReference, bytes)
        }
        // If the relationship leads back to the enclosing record, the relationship of that record asserts the link.
        let wayBack = relationship.isToMany ? nil : giver
        var statement: LinkAssertionBuilder?
        if let owner, wayBack == nil {
            var stated = LinkAssertionBuilder(relationship, of: owner, sequence)
            if let giver, isKnownByOwner(owner) {
                // The link to the owner of a keyless row always stays, so the listed links are added to that link.
                stated.isAddition = true
                stated.add(giver, occurrence: occurrence, to: &graph)
            }
            if owner.repetition >= 0 {
                repeats.add(.init(stated, record: owner.repetition, entity: entity, index: candidate.relationship))
            }
            statement = stated
        }
        let around = Context(
            permission: .full, occurrence: occurrence, arrival: statement?.arrival, wayBack: wayBack,
            isReported: statement != nil)
        try mapValue(of: candidate, relationship, tape, stating: statement, entity, around, bytes)
    }

    /// Maps the value of a relationship, depending on its shape.
    ///
    /// - Parameter statement: The statement that asserts the links; nil if no links are asserted. The records in the
    ///   value are then still mapped, and referenced rows still get nodes.
    private mutating func mapValue(
        of candidate: RecordReader.Candidate, _ relationship: RelationshipMapping, _ tape: JSONTape,
        stating statement: LinkAssertionBuilder?, _ entity: Int, _ context: Context, _ bytes: Bytes
    ) throws {
        let (isToMany, isIDKey) = (relationship.isToMany, candidate.isIDKey)
        let shape = RelationshipShape(
            tape, at: candidate.value, of: relationship, areIDs: isIDKey,
            readsConnections: reader.keyTables.readsConnections,
            bytes)
        switch shape {
        case .null:
            statement?.replaceOthers(isIDKey ? .unlink : relationship.listKind, in: &graph)
        case .empty where isToMany && isIDKey:
            statement?.replaceOthers(.unlink, in: &graph)
        case .empty(let hasNulls) where isToMany:
            guard graph.operations.contains(.deleteRelationships), !hasNulls else { return }
            statement?.replaceOthers(relationship.listKind, in: &graph)
        case .object where !isToMany && !isIDKey:
            try mapRecord(at: candidate.value, relationship, tape, stating: statement, context, bytes)
        case .object where !isToMany && candidate.isReference, .id where !isToMany && relationship.isKeyed:
            guard let target = reference(relationship, tape, at: candidate.value, entity, bytes) else { return }
            statement?.add(target, to: &graph)
        case .records(let list) where isToMany && !isIDKey:
            try mapRecords(of: list, relationship, tape, stating: statement, context, bytes)
        case .records(let list) where isToMany && candidate.isReference && list.layout == .array,
            .ids(let list) where isToMany && relationship.isKeyed && (list.layout == .array || !isIDKey):
            mapIDs(of: list, relationship, tape, stating: statement, entity, bytes)
        default:
            guard statement != nil else { return }
            report(
                .invalidRelationshipValue, entity, bytes,
                "\(reader.diagnostics.describe(tape, at: candidate.value, bytes)) cannot be read as objects or IDs of "
                    + "\(model.entities[entity].relationships[candidate.relationship].name); its links are unchanged")
        }
    }

    private mutating func mapRecord(
        at token: Int, _ relationship: RelationshipMapping, _ tape: JSONTape, stating statement: LinkAssertionBuilder?,
        _ context: Context, _ bytes: Bytes
    ) throws {
        var context = context
        context.owner = statement?.identity(at: 0)
        let target = try record(tape, at: token, as: relationship.destination, context, bytes)
        guard let statement else { return }
        if let target {
            statement.add(target.node, kind: target.entity, occurrence: statement.occurrence, to: &graph)
        } else {
            linkKeyPart(relationship, statement, tape, at: token, bytes)
        }
    }

    private mutating func mapRecords(
        of list: NestedListLayout, _ relationship: RelationshipMapping, _ tape: JSONTape,
        stating statement: LinkAssertionBuilder?, _ context: Context, _ bytes: Bytes
    ) throws {
        var context = context
        context.permission = AllowedOperations(child: graph.operations)
        context.isReported = context.isReported || relationship.isKeyed
        var position: Int32 = 0
        var elements = ListElements(of: list, tape)
        while let element = elements.next(tape, bytes) {
            guard tape.tokens[element.value].kind == .object else { continue }
            reader.path.push(.init(list.layout, tape, at: element.token, element.index))
            defer { reader.path.pop() }
            if !relationship.isKeyed { context.owner = statement?.identity(at: position) }
            if list.layout == .members {
                context.name = Int32(truncatingIfNeeded: element.token)
                context.nameSlot = Int32(truncatingIfNeeded: relationship.nameSlot)
            }
            let target = try record(tape, at: element.value, as: relationship.destination, context, bytes)
            guard let statement, let target else { continue }
            statement.add(
                target.node, kind: target.entity, at: position, occurrence: target.occurrence, isListed: true,
                to: &graph
            )
            position += 1
        }
        if position > 0, list.isWhole, graph.operations.contains(.deleteRelationships) {
            statement?.replaceOthers(relationship.listKind, in: &graph)
        }
    }

    /// Maps a list of IDs.
    ///
    /// - Parameter list: An array of IDs or resource identifiers, or an object whose object keys are IDs.
    private mutating func mapIDs(
        of list: NestedListLayout, _ relationship: RelationshipMapping, _ tape: JSONTape,
        stating statement: LinkAssertionBuilder?, _ entity: Int, _ bytes: Bytes
    ) {
        var position: Int32 = 0
        var elements = ListElements(of: list, tape)
        while let element = elements.next(tape, bytes) {
            guard tape.tokens[element.value].kind != .null else { continue }
            // In a list that asserts links, an ID of the wrong type is reported with the path of the list.
            if statement == nil { reader.path.push(.init(list.layout, tape, at: element.token, element.index)) }
            let target = reference(
                relationship, tape, at: element.token, entity, bytes, listedBy: statement?.owner)
            if statement == nil { reader.path.pop() }
            if let target { statement?.add(target, at: position, to: &graph) }
            position += 1
        }
        statement?.replaceOthers(.unlink, in: &graph)
    }

    /// Returns the node that a child's relationship leads back to; nil if there is none. It is the node through which
    /// the child was reached, or the owner that identifies the child.
    private mutating func giver(
        of child: Mapped?, by relationship: RelationshipMapping, _ context: Context
    ) -> NodeID? {
        if let arrival = context.arrival, arrival.link == relationship.link,
            arrival.end == relationship.end || relationship.isSymmetric
        {
            return arrival.owner
        }
        guard let child, let location = graph.rows[child.table.index].nodes[child.node.index].ownerIndex else {
            return nil
        }
        let owner = graph.rows[child.table.index].owners[location]
        guard owner.link == relationship.link, owner.end == relationship.end.other || relationship.isSymmetric else {
            return nil
        }
        return owner.node
    }

    /// Returns whether an owner identifies the row, because its record has no key. The record of such a row cannot
    /// change the owner.
    private func isKnownByOwner(_ row: Mapped) -> Bool {
        graph.rows[row.table.index].nodes[row.node.index].ownerIndex != nil
    }

    /// Returns the node that an ID references, with the entity that the reference states; nil for an invalid ID.
    ///
    /// An invalid ID is reported.
    ///
    /// - Parameter owner: The row that has the list. It can supply a part of a composite key.
    mutating func reference(
        _ relationship: RelationshipMapping, _ tape: JSONTape, at token: Int, _ entity: Int, _ bytes: Bytes,
        listedBy owner: PayloadGraph.RowReference? = nil
    ) -> (node: NodeID, kind: Int)? {
        if tape.tokens[token].kind == .object, layout?.types != nil {
            return resourceReference(relationship, tape, at: token, entity, bytes)
        }
        let destination = model.entities[relationship.destination]
        guard let keyOwner = destination.keyOwner,
            let key = reader.id(
                tape, at: token, of: destination, relationship, listedBy: owner, bytes, &graph)
        else {
            report(
                .typeMismatch, entity, bytes,
                "\(reader.diagnostics.describe(tape, at: token, bytes)) is not a valid key of "
                    + "\(destination.name)\(tables.limitText(ofKeyOf: destination, in: model)); it is skipped"
            )
            return nil
        }
        let node = node(forKey: key, keyOwner: keyOwner, destination, bytes).node
        return (node, destination.id)
    }

    /// Links a row to a row that its primary key references, although the value of the relationship is skipped. The key
    /// contains that reference, so the link must exist. Does nothing for other relationships.
    mutating func linkKeyPart(
        _ relationship: RelationshipMapping, _ statement: LinkAssertionBuilder, _ tape: JSONTape, at token: Int,
        isReference: Bool = false, _ bytes: Bytes
    ) {
        guard model[relationship.link].isKeyPart, relationship.end == .first, !relationship.isToMany else { return }
        let destination = model.entities[relationship.destination]
        guard let keyOwner = destination.keyOwner else { return }
        var key = isReference ? reader.resourceKey(tape, at: token, of: destination, bytes, &graph)?.key : nil
        if key == nil {
            let value = isReference ? reader.id(tape, of: token, bytes) : token
            key = reader.key(at: value, of: destination, tape, bytes, &graph)
        }
        guard let key else { return }
        let node = node(forKey: key, keyOwner: keyOwner, destination, bytes).node
        statement.add(node, occurrence: statement.occurrence, isByID: true, to: &graph)
    }
}

// MARK: - Link assertions

/// Appends the link assertions of one statement to a payload graph. A statement is about one relationship of one row.
struct LinkAssertionBuilder {
    let link: AssociationID
    /// The end of the association that the owner is at.
    let end: CompiledAssociation.End
    let isSymmetric: Bool
    /// The entity at the other end of the association.
    let linkedEntity: Int
    let owner: PayloadGraph.RowReference
    /// The occurrence of the record that asserts the links.
    let occurrence: Int32
    /// The sequence number of the statement.
    let sequence: UInt32
    /// Whether the statement only adds links, so that the row keeps its other links.
    var isAddition = false

    init(_ relationship: RelationshipMapping, of owner: PayloadMapper.Mapped, _ sequence: UInt32) {
        link = relationship.link
        end = relationship.end
        isSymmetric = relationship.isSymmetric
        linkedEntity = relationship.linkedEntity
        self.owner = .init(table: owner.table, node: owner.node)
        occurrence = owner.occurrence
        self.sequence = sequence
    }

    /// Creates a builder for the links between the parent of a sync and the root records.
    init(_ parent: PayloadGraph.Parent, in model: CompiledModel) {
        link = parent.link
        end = parent.end
        isSymmetric = model[parent.link].isSymmetric
        linkedEntity = model[parent.link].side(parent.end.other).entity
        owner = .init(table: parent.table, node: parent.node)
        occurrence = -1
        sequence = 0
    }

    /// The association through which a record in the relationship's value is reached, the record's end of it, and the
    /// owner.
    var arrival: (link: AssociationID, end: CompiledAssociation.End, owner: NodeID) { (link, end.other, owner.node) }

    /// Returns the identity of a record without a key, from the owner and the index of the record in the owner's list.
    func identity(at position: Int32) -> NodeBatch.OwnerLink {
        NodeBatch.OwnerLink(link: link, end: end, table: owner.table, node: owner.node, position: position)
    }

    /// Asserts a link to a row that an ID references.
    @inline(__always)
    func add(_ target: (node: NodeID, kind: Int), at position: Int32 = -1, to graph: inout PayloadGraph) {
        add(target.node, kind: target.kind, at: position, occurrence: occurrence, isByID: true, to: &graph)
    }

    /// Asserts a link. The link of a symmetric association is asserted in both directions.
    ///
    /// - Parameters:
    ///   - kind: The entity that the payload states for the target; -1 if it states none.
    ///   - position: The index in a list; -1 outside of lists.
    ///   - occurrence: The occurrence that must be effective for the assertion to apply. For a listed record it is that
    ///     of the record itself.
    @inline(__always)
    func add(
        _ target: NodeID, kind: Int = -1, at position: Int32 = -1, occurrence: Int32, isListed: Bool = false,
        isByID: Bool = false, to graph: inout PayloadGraph
    ) {
        func assertion(assertedBy end: CompiledAssociation.End) -> LinkBatch.Assertion {
            .init(
                first: end == .first ? owner.node : target, second: end == .first ? target : owner.node,
                sequence: sequence, position: position, occurrence: occurrence, assertedBy: end, isListed: isListed,
                isByID: isByID,
                kind: .init(entity: Int16(truncatingIfNeeded: kind == linkedEntity ? -1 : kind), end: end.other))
        }
        graph.links[link.index].assertions.append(assertion(assertedBy: end))
        if isSymmetric, owner.node != target {
            graph.links[link.index].assertions.append(assertion(assertedBy: end.other))
        }
    }

    /// Asserts that the row has no links except those that this statement and later ones assert. Does nothing if
    /// `isAddition` is true.
    func replaceOthers(_ kind: LinkBatch.Replacement.Kind, in graph: inout PayloadGraph) {
        if isAddition { return }
        let replacement = LinkBatch.Replacement(
            node: owner.node, end: end, kind: kind, sequence: sequence, occurrence: occurrence)
        graph.links[link.index].replacements.append(replacement)
        guard isSymmetric else { return }
        graph.links[link.index].replacements.append(replacement.with(end: end.other))
    }
}
