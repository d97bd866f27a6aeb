extension PayloadMapper {
    /// Chooses the candidate that speaks for each relationship of one record: an object beats an id key, an id key beats a
    /// null object; then the stronger name, then the later key.
    mutating func chooseCandidates(from first: Int, _ entity: Int, _ tape: JSONTape, _ bytes: Bytes) {
        for index in first..<candidates.count {
            let relationship = candidates[index].relationship
            let rank = rank(of: candidates[index], entity, tape, bytes)
            candidates[index].rank = rank
            let known = best[relationship]
            if known < 0 || rank <= candidates[known].rank { best[relationship] = index }
        }
        for index in first..<candidates.count {
            let relationship = candidates[index].relationship
            let chosen = best[relationship]
            if chosen < 0 { continue }
            candidates[chosen].isChosen = true
            best[relationship] = -1
        }
    }

    // What is asked at every relationship is mutating, so that the mapper is not copied for the call.

    private mutating func rank(of candidate: Candidate, _ entity: Int, _ tape: JSONTape, _ bytes: Bytes) -> Int {
        if candidate.isIDKey { return 100 + candidate.strength }
        let relationship = tables.relationships[entity][candidate.relationship]
        let shape = shape(tape, at: candidate.value, of: relationship, bytes)
        if case .null = shape { return 200 + candidate.strength }
        return shape.fits(toMany: relationship.isToMany) ? candidate.strength : 300 + candidate.strength
    }

    /// Maps the value under a relationship's key.
    ///
    /// - Parameters:
    ///   - owner: The record that has it; nil if that is skipped.
    ///   - mention: The owner's.
    mutating func map(
        _ candidate: Candidate, _ tape: JSONTape, of owner: Mapped?, _ mention: Int32, as entity: Int,
        _ context: Context, kindsFrom firstKind: Int, _ bytes: Bytes
    ) throws {
        var relationship = tables.relationships[entity][candidate.relationship]
        let giver = giver(of: owner, by: relationship, context)
        sequence += 1
        let key = tape.tokens[candidate.key]
        path.push(.key(offset: key.offset, length: Int(key.length), table: candidate.table))
        defer { path.pop() }
        if kindsBeside.count > firstKind,
            !narrow(&relationship, candidate, tape, from: firstKind, entity, bytes)
        {
            if let owner { linkKeyPart(relationship, of: owner, sequence, tape, at: candidate.value, bytes) }
            return
        }
        let shape = shape(tape, at: candidate.value, of: relationship, areIDs: candidate.isIDKey, bytes)
        let wayBack = relationship.isToMany ? nil : giver
        guard let owner, wayBack == nil else {
            let around = Context(permission: .full, mention: mention, wayBack: wayBack, isReported: false)
            return try self.mention(shape, candidate, relationship, tape, entity, around, bytes)
        }
        // What a row that is known by its owner says of others is in addition to that one.
        let isAddition = giver != nil && isKnownByOwner(owner)
        let statement = Statement(
            relationship: relationship, owner: owner, sequence: sequence, isIDKey: candidate.isIDKey,
            value: candidate.value, isAddition: isAddition)
        if owner.repetition >= 0 {
            repeats.links.append(
                .init(
                    side: .init(link: relationship.link, end: relationship.end), sequence: sequence,
                    record: owner.repetition, entity: entity, index: candidate.relationship))
        }
        if let giver, isAddition { addLink(statement, target: giver) }
        switch shape {
        case .null:
            replace(statement, candidate.isIDKey ? .unlink : relationship.listKind)
        case .object where !relationship.isToMany && !candidate.isIDKey:
            try toOne(statement, tape, bytes)
        case .object where !relationship.isToMany && candidate.isReference:
            if let target = reference(relationship, tape, at: candidate.value, entity, bytes) {
                addReference(statement, to: target)
            }
        case .scalar where !relationship.isToMany && relationship.isKeyed:
            if let target = reference(relationship, tape, at: candidate.value, entity, bytes) {
                addReference(statement, to: target)
            }
        case .objects where relationship.isToMany && !candidate.isIDKey:
            try list(statement, .array, tape, bytes)
        case .placed(let place) where relationship.isToMany && !candidate.isIDKey:
            var statement = statement
            statement.value = place.token
            if place.hasNamesOnly, relationship.isKeyed {
                ids(statement, place.layout, tape, entity, bytes)
            } else {
                try list(statement, place.layout, tape, isWhole: place.isWhole, bytes)
            }
        case .objects where relationship.isToMany && candidate.isReference:
            ids(statement, .array, tape, entity, bytes)
        case .scalars where relationship.isToMany && relationship.isKeyed:
            ids(statement, .array, tape, entity, bytes)
        case .empty(let hasNulls) where relationship.isToMany:
            if candidate.isIDKey {
                replace(statement, .unlink)
            } else if plan.operations.contains(.deleteRelationships), !hasNulls {
                replace(statement, relationship.listKind)
            }
        default:
            report(
                .shapeDoesNotFit, entity, bytes,
                "\(diagnostics.describe(tape, at: candidate.value, bytes)) fits neither objects nor ids of "
                    + "\(model.entities[entity].relationships[candidate.relationship].name); its links stay")
        }
    }

    /// The row that a relationship of a child leads back to, because it gave the child: around the record, or by that for
    /// which a row without a key is known.
    private mutating func giver(
        of child: Mapped?, by relationship: RelationshipMapping, _ context: Context
    ) -> NodeID? {
        if let arrival = context.arrival, arrival.link == relationship.link,
            arrival.end == relationship.end || relationship.isSymmetric
        {
            return arrival.owner
        }
        guard let child, let place = plan.rows[child.table.index].nodes[child.node.index].ownerPlace else { return nil }
        let owner = plan.rows[child.table.index].owners[place]
        guard owner.link == relationship.link, owner.end == relationship.end.other || relationship.isSymmetric else {
            return nil
        }
        return owner.node
    }

    /// Whether a row has no key, so that it is the owner's who gave it, whatever its JSON says.
    private mutating func isKnownByOwner(_ row: Mapped) -> Bool {
        plan.rows[row.table.index].nodes[row.node.index].ownerPlace != nil
    }

    /// What is being said about the links of one row.
    struct Statement {
        var relationship: RelationshipMapping
        var owner: Mapped
        var sequence: UInt32
        var isIDKey: Bool
        var value: Int
        /// Whether the rows that it leaves out keep their links.
        var isAddition = false
    }

    /// What says nothing about a link: a child's own word on its owner, which is the one that gives the child, and all
    /// that stands in a record that is skipped. The rows are mentioned, so they are not deleted, and records are mapped.
    private mutating func mention(
        _ shape: RelationshipShape, _ candidate: Candidate, _ relationship: RelationshipMapping, _ tape: JSONTape,
        _ entity: Int, _ context: Context, _ bytes: Bytes
    ) throws {
        switch shape {
        case .object where !relationship.isToMany && !candidate.isIDKey:
            _ = try record(tape, at: candidate.value, as: relationship.destination, context, bytes)
        case .object where !relationship.isToMany && candidate.isReference:
            _ = reference(relationship, tape, at: candidate.value, entity, bytes)
        case .scalar where !relationship.isToMany && relationship.isKeyed:
            _ = reference(relationship, tape, at: candidate.value, entity, bytes)
        case .objects where relationship.isToMany && !candidate.isIDKey:
            var context = context
            context.permission = Permission(child: plan.operations)
            context.isReported = relationship.isKeyed
            try elements(ofList: candidate.value, tape) { mapper, element in
                guard tape.tokens[element].kind == .object else { return }
                _ = try mapper.record(tape, at: element, as: relationship.destination, context, bytes)
            }
        case .placed(let place) where relationship.isToMany && !candidate.isIDKey:
            try mentionPlaced(place, relationship, tape, entity, context, bytes)
        case .objects where relationship.isToMany && candidate.isReference:
            try elements(ofList: candidate.value, tape) { mapper, element in
                _ = mapper.reference(relationship, tape, at: element, entity, bytes)
            }
        case .scalars where relationship.isToMany && relationship.isKeyed:
            try elements(ofList: candidate.value, tape) { mapper, element in
                guard tape.tokens[element].kind != .null else { return }
                _ = mapper.reference(relationship, tape, at: element, entity, bytes)
            }
        default: break
        }
    }

    /// The elements of a list, each with its index in the path.
    private mutating func elements(
        ofList list: Int, _ tape: JSONTape, _ body: (inout PayloadMapper, Int) throws -> Void
    ) throws {
        var element = list + 1
        var index = 0
        while element < Int(tape.tokens[list].next) {
            path.push(.index(index))
            defer { path.pop() }
            try body(&self, element)
            element = Int(tape.tokens[element].next)
            index += 1
        }
    }

    private mutating func toOne(_ statement: Statement, _ tape: JSONTape, _ bytes: Bytes) throws {
        let relationship = statement.relationship
        let context = Context(
            permission: .full, mention: statement.owner.mention,
            arrival: (relationship.link, relationship.end.other, statement.owner.node),
            owner: owner(of: statement, position: 0))
        guard let child = try record(tape, at: statement.value, as: relationship.destination, context, bytes) else {
            linkKeyPart(relationship, of: statement.owner, statement.sequence, tape, at: statement.value, bytes)
            return
        }
        addLink(statement, target: child.node, kind: child.entity)
    }

    private mutating func list(
        _ statement: Statement, _ layout: ListLayout, _ tape: JSONTape, isWhole: Bool = true, _ bytes: Bytes
    ) throws {
        let relationship = statement.relationship
        let permission = Permission(child: plan.operations)
        let isKeyless = !relationship.isKeyed
        var readable = 0
        var position: Int32 = 0
        var next = statement.value + 1
        let end = Int(tape.tokens[statement.value].next)
        var index = 0
        while next < end {
            let first = next
            let element = layout == .array ? next : self.element(layout, tape, at: next, bytes)
            next = Int(tape.tokens[layout == .members ? next + 1 : next].next)
            defer { index += 1 }
            guard tape.tokens[element].kind == .object else { continue }
            path.push(layout == .array ? .index(index) : .init(layout, tape, at: first, index))
            defer { path.pop() }
            var context = Context(
                permission: permission, mention: statement.owner.mention,
                arrival: (relationship.link, relationship.end.other, statement.owner.node),
                owner: isKeyless ? owner(of: statement, position: position) : nil)
            if layout == .members {
                context.name = Int32(truncatingIfNeeded: first)
                context.nameSlot = Int32(truncatingIfNeeded: relationship.nameSlot)
            }
            guard let child = try record(tape, at: element, as: relationship.destination, context, bytes) else {
                continue
            }
            readable += 1
            addLink(
                relationship.link, end: relationship.end, owner: statement.owner.node, target: child.node,
                sequence: statement.sequence, position: position, mention: child.mention, isListed: true,
                isSymmetric: relationship.isSymmetric, kind: child.entity)
            position += 1
        }
        if readable > 0, isWhole, plan.operations.contains(.deleteRelationships) {
            replace(statement, relationship.listKind)
        }
    }

    /// - Parameter layout: An array of ids or references, or an object whose members' names are ids.
    private mutating func ids(
        _ statement: Statement, _ layout: ListLayout, _ tape: JSONTape, _ entity: Int, _ bytes: Bytes
    ) {
        let relationship = statement.relationship
        var position: Int32 = 0
        var element = statement.value + 1
        let end = Int(tape.tokens[statement.value].next)
        while element < end {
            defer { element = Int(tape.tokens[layout == .members ? element + 1 : element].next) }
            guard tape.tokens[layout == .members ? element + 1 : element].kind != .null else { continue }
            if let (target, kind) = reference(relationship, tape, at: element, entity, bytes, listedBy: statement.owner)
            {
                addLink(
                    relationship.link, end: relationship.end, owner: statement.owner.node, target: target,
                    sequence: statement.sequence, position: position, mention: statement.owner.mention, isByID: true,
                    isSymmetric: relationship.isSymmetric, kind: kind)
            }
            position += 1
        }
        replace(statement, .unlink)
    }

    private func owner(of statement: Statement, position: Int32) -> RowBatch.Owner {
        RowBatch.Owner(
            link: statement.relationship.link, end: statement.relationship.end, table: statement.owner.table,
            node: statement.owner.node, position: position)
    }

    /// The node an id refers to, with the kind that it says the row is of; reported if it cannot be a key of the
    /// destination.
    ///
    /// - Parameter owner: Whose list it is in, which may supply a part of it.
    mutating func reference(
        _ relationship: RelationshipMapping, _ tape: JSONTape, at token: Int, _ entity: Int, _ bytes: Bytes,
        listedBy owner: Mapped? = nil
    ) -> (node: NodeID, kind: Int)? {
        if tape.tokens[token].kind == .object, layout?.types != nil {
            return resourceReference(relationship, tape, at: token, entity, bytes)
        }
        let destination = model.entities[relationship.destination]
        guard let keyOwner = destination.keyOwner,
            let key = idSlot(relationship, destination, tape, at: token, bytes, listedBy: owner)
        else {
            report(
                .valueDoesNotFit, entity, bytes,
                "\(diagnostics.describe(tape, at: token, bytes)) cannot be the key of a \(destination.name); it is skipped"
            )
            return nil
        }
        let node = node(forKey: key, keyOwner: keyOwner, destination, bytes).node
        return (node, destination.id)
    }

    // MARK: Statements

    private mutating func addReference(_ statement: Statement, to target: (node: NodeID, kind: Int)) {
        addLink(statement, target: target.node, isByID: true, kind: target.kind)
    }

    private mutating func addLink(_ statement: Statement, target: NodeID, isByID: Bool = false, kind: Int = -1) {
        addLink(
            statement.relationship.link, end: statement.relationship.end, owner: statement.owner.node, target: target,
            sequence: statement.sequence, position: -1, mention: statement.owner.mention, isByID: isByID,
            isSymmetric: statement.relationship.isSymmetric, kind: kind)
    }

    /// Says that a pair is linked. A symmetric link is said in both directions.
    ///
    /// - Parameter kind: The entity that the target is said to be of; -1 for any that the link leads to.
    mutating func addLink(
        _ link: LinkID, end: Link.End, owner: NodeID, target: NodeID, sequence: UInt32, position: Int32, mention: Int32,
        isListed: Bool = false, isByID: Bool = false, isSymmetric: Bool = false, kind: Int = -1
    ) {
        func assertion(saidBy end: Link.End) -> LinkBatch.Assertion {
            .init(
                first: end == .first ? owner : target, second: end == .first ? target : owner, sequence: sequence,
                position: position, mention: mention, saidBy: end, isListed: isListed, isByID: isByID,
                kind: kind < 0 ? nil : (entity: kind, end: end.other))
        }
        plan.links[link.index].assertions.append(assertion(saidBy: end))
        if isSymmetric, owner != target { plan.links[link.index].assertions.append(assertion(saidBy: end.other)) }
    }

    /// Says that a row has no other links than the ones said along with this.
    mutating func replace(_ statement: Statement, _ kind: LinkBatch.Replacement.Kind) {
        if statement.isAddition { return }
        let relationship = statement.relationship
        var replacement = LinkBatch.Replacement(
            node: statement.owner.node, end: relationship.end, kind: kind, sequence: statement.sequence,
            mention: statement.owner.mention)
        plan.links[relationship.link.index].replacements.append(replacement)
        guard relationship.isSymmetric else { return }
        replacement.end = relationship.end.other
        plan.links[relationship.link.index].replacements.append(replacement)
    }
}
