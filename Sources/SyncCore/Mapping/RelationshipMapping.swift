/// What mapping needs of a relationship, without references.
struct RelationshipMapping {
    let link: LinkID
    /// The end of the link its owner is at.
    let end: Link.End
    let destination: Int
    let isToMany: Bool
    /// Whether the way back is to-one: a listed row has no other owner.
    let isInverseToOne: Bool
    let isSymmetric: Bool
    /// The type ids are coerced to; nil if the destination is keyless.
    let keyType: AttributeType?

    init(_ relationship: CompiledRelationship, of model: CompiledModel) {
        let destination = model.entities[relationship.destination]
        link = relationship.link
        end = relationship.end
        self.destination = destination.id
        isToMany = relationship.isToMany
        isInverseToOne = !model[link].side(end.other).isToMany
        isSymmetric = model[link].isSymmetric
        keyType = model.keyType(of: destination.id)
    }

    /// What a list of objects does to rows it leaves out.
    var listKind: LinkBatch.Replacement.Kind { isToMany && isInverseToOne ? .delete : .unlink }
}
