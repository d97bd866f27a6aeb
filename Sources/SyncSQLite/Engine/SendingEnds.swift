import SyncCore
import SyncStore

/// The ends of many-to-many associations whose rows are sent with the IDs of linked rows, in two models.
struct SendingEnds {
    let old: [AssociationID: CompiledAssociation.End]
    let new: [AssociationID: CompiledAssociation.End]

    init(from old: SyncModel, to new: SyncModel) {
        self.old = Self.ends(in: old)
        self.new = Self.ends(in: new)
    }

    /// Returns the successor of an association in the new model; nil if there is none that is sent with the same rows.
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
