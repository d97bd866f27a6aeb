import SyncCore
import SyncStore

/// The end of each many-to-many association whose rows are sent with the IDs of linked rows, in the old and the new
/// model.
struct SentLinkEnds {
    let old: [AssociationID: CompiledAssociation.End]
    let new: [AssociationID: CompiledAssociation.End]

    init(from old: SyncModel, to new: SyncModel) {
        self.old = Self.ends(in: old)
        self.new = Self.ends(in: new)
    }

    /// Returns the association of the new model that succeeds an old one and is sent with the same rows; nil if there
    /// is none.
    func successor(of link: CompiledAssociation, _ map: MigrationMap) -> CompiledAssociation? {
        for successor in map.new.model.links where successor.storage == .joinTable {
            guard let source = map.links[successor.id]?.first(where: { $0.link == link.id }),
                let (before, after) = old[link.id].flatMap({ before in new[successor.id].map { (before, $0) } }),
                after == (source.isFlipped ? before.other : before)
            else { continue }
            return successor
        }
        return nil
    }

    private static func ends(in model: SyncModel) -> [AssociationID: CompiledAssociation.End] {
        var ends: [AssociationID: CompiledAssociation.End] = [:]
        for entity in model.compiled.entities {
            guard let shape = try? OutgoingSchema(entity, of: model) else { continue }
            for member in shape.members {
                if case .joinRows(let link, let end) = member.field { ends[link] = end }
            }
        }
        return ends
    }
}
