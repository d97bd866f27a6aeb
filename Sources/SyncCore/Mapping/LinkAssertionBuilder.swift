/// Appends the link assertions of one row and relationship to a payload graph.
struct LinkAssertionBuilder {
    let link: AssociationID
    /// The end of the association at which the row is.
    let end: CompiledAssociation.End
    let isSymmetric: Bool
    /// The entity at the other end.
    let linkedEntity: Int
    let owner: PayloadGraph.RowReference
    /// The occurrence of the record that asserts the links.
    let occurrence: Int32
    /// The sequence number of the statement.
    let sequence: UInt32
    /// Whether the row keeps its other links.
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

    /// Creates a builder for the children of a parent.
    init(_ parent: PayloadGraph.Parent, in model: CompiledModel) {
        link = parent.link
        end = parent.end
        isSymmetric = model[parent.link].isSymmetric
        linkedEntity = model[parent.link].side(parent.end.other).entity
        owner = .init(table: parent.table, node: parent.node)
        occurrence = -1
        sequence = 0
    }

    /// The way in which a record in the value of the relationship is reached.
    var arrival: (link: AssociationID, end: CompiledAssociation.End, owner: NodeID) { (link, end.other, owner.node) }

    /// Returns the identity of a keyless record by its position in the value of the relationship.
    func identity(at position: Int32) -> NodeBatch.OwnerLink {
        NodeBatch.OwnerLink(link: link, end: end, table: owner.table, node: owner.node, position: position)
    }

    /// Asserts a link to a row that an ID references.
    @inline(__always)
    func add(_ target: (node: NodeID, kind: Int), at position: Int32 = -1, to plan: inout PayloadGraph) {
        add(target.node, kind: target.kind, at: position, occurrence: occurrence, isByID: true, to: &plan)
    }

    /// Asserts a link. The link of a symmetric association is asserted in both directions.
    ///
    /// - Parameters:
    ///   - kind: The entity that the payload states for the target; -1 if it states none.
    ///   - position: The index in a list; -1 outside of lists.
    ///   - mention: The occurrence that must be effective. For a listed record it is the record's own.
    @inline(__always)
    func add(
        _ target: NodeID, kind: Int = -1, at position: Int32 = -1, occurrence: Int32, isListed: Bool = false,
        isByID: Bool = false, to plan: inout PayloadGraph
    ) {
        func assertion(assertedBy end: CompiledAssociation.End) -> LinkBatch.Assertion {
            .init(
                first: end == .first ? owner.node : target, second: end == .first ? target : owner.node,
                sequence: sequence, position: position, occurrence: occurrence, assertedBy: end, isListed: isListed,
                isByID: isByID,
                kind: .init(entity: Int16(truncatingIfNeeded: kind == linkedEntity ? -1 : kind), end: end.other))
        }
        plan.links[link.index].assertions.append(assertion(assertedBy: end))
        if isSymmetric, owner.node != target {
            plan.links[link.index].assertions.append(assertion(assertedBy: end.other))
        }
    }

    /// Replaces all links of the row, except those with this sequence number.
    func replaceOthers(_ kind: LinkBatch.Replacement.Kind, in plan: inout PayloadGraph) {
        if isAddition { return }
        let replacement = LinkBatch.Replacement(
            node: owner.node, end: end, kind: kind, sequence: sequence, occurrence: occurrence)
        plan.links[link.index].replacements.append(replacement)
        guard isSymmetric else { return }
        plan.links[link.index].replacements.append(replacement.with(end: end.other))
    }
}
