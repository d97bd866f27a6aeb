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
    func add(_ target: (node: NodeID, kind: Int), at position: Int32 = -1, to plan: inout PayloadGraph) {
        add(target.node, kind: target.kind, at: position, occurrence: occurrence, isByID: true, to: &plan)
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

    /// Asserts that the row has no links except those that this statement and later ones assert. Does nothing if
    /// `isAddition` is true.
    func replaceOthers(_ kind: LinkBatch.Replacement.Kind, in plan: inout PayloadGraph) {
        if isAddition { return }
        let replacement = LinkBatch.Replacement(
            node: owner.node, end: end, kind: kind, sequence: sequence, occurrence: occurrence)
        plan.links[link.index].replacements.append(replacement)
        guard isSymmetric else { return }
        plan.links[link.index].replacements.append(replacement.with(end: end.other))
    }
}
