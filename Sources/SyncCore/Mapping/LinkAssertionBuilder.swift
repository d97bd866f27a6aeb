/// States the links of one row through one relationship, in a plan.
struct LinkAssertionBuilder {
    let link: AssociationID
    /// The end of the link at which the row is.
    let end: CompiledAssociation.End
    let isSymmetric: Bool
    /// The entity that the link leads to.
    let linkedEntity: Int
    let owner: PayloadGraph.RowReference
    /// The mention of the record that states them.
    let mention: Int32
    /// Its place among the statements of the payload.
    let sequence: UInt32
    /// Whether the row keeps its other links in any case.
    var isAddition = false

    init(_ relationship: RelationshipMapping, of owner: PayloadMapper.Mapped, _ sequence: UInt32) {
        link = relationship.link
        end = relationship.end
        isSymmetric = relationship.isSymmetric
        linkedEntity = relationship.linkedEntity
        self.owner = .init(table: owner.table, node: owner.node)
        mention = owner.mention
        self.sequence = sequence
    }

    /// The links of a parent, whose rows are the payload.
    init(_ parent: PayloadGraph.Parent, in model: CompiledModel) {
        link = parent.link
        end = parent.end
        isSymmetric = model[parent.link].isSymmetric
        linkedEntity = model[parent.link].side(parent.end.other).entity
        owner = .init(table: parent.table, node: parent.node)
        mention = -1
        sequence = 0
    }

    /// How a record is reached that stands in the value of the relationship.
    var arrival: (link: AssociationID, end: CompiledAssociation.End, owner: NodeID) { (link, end.other, owner.node) }

    /// What identifies a record without a key by its place in the value of the relationship.
    func identity(at position: Int32) -> NodeBatch.OwnerLink {
        NodeBatch.OwnerLink(link: link, end: end, table: owner.table, node: owner.node, position: position)
    }

    /// States a link to a row that an id names.
    @inline(__always)
    func add(_ target: (node: NodeID, kind: Int), at position: Int32 = -1, to plan: inout PayloadGraph) {
        add(target.node, kind: target.kind, at: position, mention: mention, isByID: true, to: &plan)
    }

    /// States a link. A symmetric one is stated in both directions.
    ///
    /// - Parameters:
    ///   - kind: The entity that the target is of; -1 if the payload does not say.
    ///   - position: Its place in a list; -1 outside of lists.
    ///   - mention: The mention of the record that counts for it; of a listed record its own.
    @inline(__always)
    func add(
        _ target: NodeID, kind: Int = -1, at position: Int32 = -1, mention: Int32, isListed: Bool = false,
        isByID: Bool = false, to plan: inout PayloadGraph
    ) {
        func assertion(saidBy end: CompiledAssociation.End) -> LinkBatch.Assertion {
            .init(
                first: end == .first ? owner.node : target, second: end == .first ? target : owner.node,
                sequence: sequence, position: position, mention: mention, saidBy: end, isListed: isListed,
                isByID: isByID,
                kind: .init(entity: Int16(truncatingIfNeeded: kind == linkedEntity ? -1 : kind), end: end.other))
        }
        plan.links[link.index].assertions.append(assertion(saidBy: end))
        if isSymmetric, owner.node != target {
            plan.links[link.index].assertions.append(assertion(saidBy: end.other))
        }
    }

    /// States that the row has no links beside those with this sequence number.
    func replaceOthers(_ kind: LinkBatch.Replacement.Kind, in plan: inout PayloadGraph) {
        if isAddition { return }
        let replacement = LinkBatch.Replacement(
            node: owner.node, end: end, kind: kind, sequence: sequence, mention: mention)
        plan.links[link.index].replacements.append(replacement)
        guard isSymmetric else { return }
        plan.links[link.index].replacements.append(replacement.with(end: end.other))
    }
}
