/// What mapping needs of a relationship, without references.
struct RelationshipMapping {
    let link: Int
    /// The end of the link its owner is at.
    let end: Link.End
    let destination: Int
    let destinationTree: Int
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
        destinationTree = destination.tree
        isToMany = relationship.isToMany
        isInverseToOne = !model.links[link].side(end.other).isToMany
        isSymmetric = model.links[link].isSymmetric
        keyType = destination.keySlot.map { model.trees[destination.tree].attributes[$0].type }
    }

    /// What a list of objects does to rows it leaves out.
    var listKind: LinkBatch.Replacement.Kind { isToMany && isInverseToOne ? .delete : .unlink }
}
