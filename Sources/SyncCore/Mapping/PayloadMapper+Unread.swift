/// What is known of the key of a root record.
enum RootKeyState {
    /// It has none, or null.
    case lacking
    /// It has one that is not of the type, or only a part of one: it may be of any row.
    case unreadable
    case read
}

// Root records without a readable key.
extension PayloadMapper {
    /// Notes of the root record just mapped that its row is not known.
    mutating func noteRootKey(_ root: Int, _ bytes: Bytes) {
        guard rootKeyState != .read else { return }
        let isUnread = rootKeyState == .unreadable
        guard isUnread || plan.firstKeyless == nil else { return }
        let path = path.text(bytes, keyTables.all)
        plan.firstKeyless = plan.firstKeyless ?? .init(entity: plan.roots[root].entity, path: path)
        guard isUnread else { return }
        if plan.roots[root].unread == 0 { plan.roots[root].firstUnread = path }
        plan.roots[root].unread += 1
    }

    /// A resource that has an id and does not say of which type may be of any row.
    mutating func noteResourceWithoutType(_ tape: JSONTape, at place: Place, _ root: Int, _ bytes: Bytes) {
        if let type = tape.member(named: "type", of: place.token, in: bytes), tape.tokens[type].kind == .string {
            return
        }
        let hasID = tape.member(named: "id", of: place.token, in: bytes) != nil
        rootKeyState = hasID ? .unreadable : .lacking
        noteRootKey(root, bytes)
    }
}
