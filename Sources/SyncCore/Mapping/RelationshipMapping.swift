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
    /// Whether rows of the destination have keys, so that ids can be given.
    let isKeyed: Bool
    /// Whether these keys have several parts, so that an id is a list or an object.
    let hasPartedIDs: Bool
    /// Which of the parts is the way back along this link, so that the owner supplies it.
    let suppliedPart: Int?

    init(_ relationship: CompiledRelationship, of model: CompiledModel) {
        let destination = model.entities[relationship.destination]
        link = relationship.link
        end = relationship.end
        self.destination = destination.id
        isToMany = relationship.isToMany
        isInverseToOne = !model[link].side(end.other).isToMany
        isSymmetric = model[link].isSymmetric
        isKeyed = destination.isKeyed
        hasPartedIDs = destination.compositeKey != nil
        suppliedPart = destination.compositeKey?.parts.firstIndex { part in
            guard case .relationship(let index) = part else { return false }
            let back = destination.relationships[index]
            return back.link == relationship.link && back.end == relationship.end.other
        }
    }

    /// What a list of objects does to rows it leaves out.
    var listKind: LinkBatch.Replacement.Kind { isToMany && isInverseToOne ? .delete : .unlink }
}
