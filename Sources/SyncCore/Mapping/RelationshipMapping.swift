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
    /// Whether rows of the destination have keys, so that ids can be given.
    private(set) var isKeyed: Bool
    /// Whether these keys have several parts, so that an id is a list or an object.
    private(set) var hasPartedIDs: Bool
    /// Which of the parts is the way back along this link, so that the owner supplies it.
    private(set) var suppliedPart: Int?
    /// The slot that the names of its targets fill where those are the members of an object; -1 if they never are.
    let nameSlot: Int
    /// Whether that is the slot of the key.
    let areNamesKeys: Bool

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
        suppliedPart = Self.suppliedPart(destination, relationship.link, relationship.end)
        nameSlot = relationship.relationship.keyedBy?.slot(in: destination, of: model) ?? -1
        areNamesKeys = nameSlot >= 0 && nameSlot == destination.keySlot
    }

    private static func suppliedPart(_ destination: CompiledEntity, _ link: LinkID, _ end: Link.End) -> Int? {
        destination.compositeKey?.parts.firstIndex { part in
            guard case .relationship(let index) = part else { return false }
            let back = destination.relationships[index]
            return back.link == link && back.end == end.other
        }
    }

    /// Leads to rows of one of the kinds of the destination.
    mutating func narrow(to entity: Int, of model: CompiledModel) {
        let kind = model.entities[entity]
        destination = entity
        isKeyed = kind.isKeyed
        hasPartedIDs = kind.compositeKey != nil
        suppliedPart = Self.suppliedPart(kind, link, end)
    }

    /// What a list of objects does to rows it leaves out.
    var listKind: LinkBatch.Replacement.Kind { isToMany && isInverseToOne ? .delete : .unlink }
}
