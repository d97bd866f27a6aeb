extension Space {
    /// Creates a row, or repeats the answer for a known idempotency key.
    func post(_ name: String, _ call: Call) throws(Refusal) -> Answer {
        let answerKey = settings.idempotency.flatMap(call.header).map { [name, $0] }
        if let answerKey, let document = answered[answerKey] { return Answer(status: 200, json: document) }
        let members = try call.members()
        for member in settings.required where members[member] ?? .null == .null {
            throw Refusal(422, "\(member) is missing")
        }
        let id = try chosenID(name, members)
        try checkUnique(name, members, except: nil)
        let row = make(name, id: id, members)
        if let answerKey { answered[answerKey] = settings.wrapped(row.document(settings)) }
        return one(row, status: 201)
    }

    /// Creates a row. The server assigns the ID if none is given.
    func make(_ name: String, id: JSON?, _ members: [String: JSON]) -> Row {
        var collection = collections[name, default: Rows()]
        let id = id ?? .integer(collection.nextID())
        let row = collection.make(
            id: id, key: Row.key(of: id) ?? "", members: settings.content(of: members), at: tick())
        collections[name] = collection
        return row
    }

    /// Returns the ID that the client assigned; nil if the server assigns it.
    private func chosenID(_ name: String, _ members: [String: JSON]) throws(Refusal) -> JSON? {
        guard settings.ids == .client else { return nil }
        guard let id = members["id"], let key = Row.key(of: id) else { throw Refusal(422, "id is missing") }
        guard collections[name]?.live(key) == nil else { throw Refusal(409, "\(name) \(key) exists") }
        return id
    }

    /// Rejects a value that another row has.
    func checkUnique(_ name: String, _ members: [String: JSON], except key: String?) throws(Refusal) {
        guard let unique = settings.unique, let value = members[unique], value != .null else { return }
        let others = (collections[name]?.all ?? []).filter { $0.deleted == nil && Row.key(of: $0.id) != key }
        guard !others.contains(where: { $0.members[unique] == value }) else {
            throw Refusal(409, "\(unique) is taken")
        }
    }
}
