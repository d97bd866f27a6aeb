/// What mapping needs of a relationship, without references.
struct RelationshipMapping {
    let link: LinkID
    /// The end of the link its owner is at.
    let end: Link.End
    private(set) var destination: Int
    let isToMany: Bool
    /// Whether the way back is to-one: a listed row has no other owner.
    let isInverseToOne: Bool
    let isSymmetric: Bool
    /// The type ids are coerced to; nil if the destination is keyless.
    private(set) var keyType: AttributeType?
    /// The slot that the names of its targets fill where those are the members of an object; -1 if they never are.
    let nameSlot: Int

    init(_ relationship: CompiledRelationship, of model: CompiledModel) {
        let destination = model.entities[relationship.destination]
        link = relationship.link
        end = relationship.end
        self.destination = destination.id
        isToMany = relationship.isToMany
        isInverseToOne = !model[link].side(end.other).isToMany
        isSymmetric = model[link].isSymmetric
        keyType = model.keyType(of: destination.id)
        nameSlot = relationship.relationship.keyedBy?.slot(in: destination, of: model) ?? -1
    }

    /// Leads to rows of one of the kinds of the destination.
    mutating func narrow(to entity: Int, of model: CompiledModel) {
        destination = entity
        keyType = model.keyType(of: entity)
    }

    /// What a list of objects does to rows it leaves out.
    var listKind: LinkBatch.Replacement.Kind { isToMany && isInverseToOne ? .delete : .unlink }
}
