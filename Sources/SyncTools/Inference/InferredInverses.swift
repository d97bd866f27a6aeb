import SyncCore

/// Decides which lists are one-to-many and gives them a way back.
///
/// A list is one-to-many only if no row is listed by two owners and either the rows themselves name their owner or there
/// are many of both; and all lists are of objects. Any other list stays many-to-many, which never deletes rows: a few
/// lists that happen to have nothing in common are no proof.
enum InferredInverses {
    /// So many owners and rows, none of them shared, are taken for proof.
    private static let (provingOwners, provingRows) = (5, 20)

    static func complete(_ drafts: inout [EntityDraft]) {
        let places = Dictionary(
            drafts.enumerated().map { ($1.entity.name, $0) }, uniquingKeysWith: { first, _ in first })
        for owner in drafts.indices {
            let lists = drafts[owner].members.filter { $0.member.value.objectLists > 0 }
            for (name, member) in lists {
                guard case .link(let target, true, false) = member.kind,
                    let child = places[target]
                else { continue }
                guard !drafts[child].isKeyless else { continue }
                let place = "\(drafts[owner].entity.name).\(name)"
                // If it is free, and named after the owner.
                let ownerName = drafts[owner].entity.name
                let back = drafts[child].wayBack(to: ownerName, names: [ownerName, "parent"])
                let owners = Set(member.value.owners.values).count
                let rows = member.value.owners.count
                let isProven = owners >= provingOwners && rows >= provingRows
                let isOwned = !member.value.isShared && (back != nil || isProven)
                let isMixed = drafts[owner].keys[name, default: []].count > 1
                guard isOwned, !isMixed else {
                    let reason =
                        member.value.isShared
                        ? "some rows are listed twice"
                        : isMixed ? "some lists are of ids" : "\(rows) rows of \(owners) owners are no proof of more"
                    drafts[owner].notes.append(.init(place, "many-to-many: \(reason); nothing is deleted"))
                    continue
                }
                let wish = owner == child ? "parent" : lowercasedFirst(drafts[owner].entity.name)
                let inverse =
                    back ?? drafts[child].addInverse(wish, to: drafts[owner].entity.name, inverse: name)
                drafts[child].setInverse(of: inverse, to: name)
                drafts[owner].setInverse(of: name, to: inverse)
                drafts[owner].notes.append(
                    .init(
                        place,
                        "one-to-many: none of \(member.value.owners.count) rows is listed by two of \(owners) owners; "
                            + "a row that its owner's list leaves out is deleted"))
            }
        }
    }

    private static func lowercasedFirst(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
}
