/// An entity, attribute or relationship, which a later model can rename.
package protocol RenamableMember {
    var name: String { get }
    /// The name in an earlier model.
    var renamedFrom: String? { get }
}

extension SyncModel.Entity: RenamableMember {}
extension SyncModel.Attribute: RenamableMember {}
extension SyncModel.Relationship: RenamableMember {}

/// The old name of each member of a new model. The members are the entities, or the attributes or relationships of one
/// entity.
///
/// These rules apply in order:
///
/// 1. A renamed member succeeds the old member that `renamedFrom` names. The rename is done already if the old model
///    has the member with the same `renamedFrom`, because a model keeps `renamedFrom` after the migration.
/// 2. Any other member succeeds the old member of its own name, unless a renamed member succeeds it.
/// 3. A member that has no old member yet succeeds the one that `renamedFrom` names, unless another member succeeds it.
///
/// Members can therefore exchange their names, in swaps, chains and rings.
package struct FormerNames: Sendable {
    private var names: [String: String] = [:]

    package init<Member: RenamableMember>(of new: [Member], in old: [Member]) {
        let stored = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for member in new {
            guard let source = member.renamedFrom, source != member.name, stored[source] != nil,
                stored[member.name]?.renamedFrom != source
            else { continue }
            names[member.name] = source
        }
        let renamed = Set(names.values)
        for member in new where names[member.name] == nil && stored[member.name] != nil {
            if !renamed.contains(member.name) { names[member.name] = member.name }
        }
        let succeeded = Set(names.values)
        for member in new where names[member.name] == nil {
            guard let source = member.renamedFrom, stored[source] != nil, !succeeded.contains(source) else { continue }
            names[member.name] = source
        }
    }

    /// Returns the old name of a member; nil if the old model does not have the member.
    package subscript(name: String) -> String? { names[name] }
}
