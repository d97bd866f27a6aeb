import SyncCore

extension ScenarioActions {
    /// Makes a sync in the reference.
    func sync(_ call: ScenarioStep.SyncCall, in reference: inout ReferenceStore) throws {
        let json: JSONValue
        switch try payload(of: call) {
        case .bytes(let data): json = try JSONValue(parsing: data)
        case .value(let value): json = value
        }
        guard !call.isPaged else { return try sync(pages: json, call, in: &reference) }
        try reference.sync(
            json, inEntity: call.entity, predicate: try call.predicate.map { try RecordPredicate(parsing: $0) },
            parent: call.parent, relationship: call.relationship, operations: call.operations, options: call.options)
    }

    /// Pages are what they are together: a list, or, with one that is an object, what was sent of it.
    private func sync(
        pages: JSONValue, _ call: ScenarioStep.SyncCall, in reference: inout ReferenceStore
    ) throws {
        guard case .array(let pages) = pages else { return }
        var whole = call
        whole.isPaged = false
        whole.key = nil
        var records: [JSONValue] = []
        for page in pages {
            if case .array(let elements) = page {
                records += elements
            } else {
                records.append(page)
                if call.predicate == nil, call.parent == nil { whole.options.payload = .delta }
            }
        }
        whole.payload = .inline(.array(records))
        try sync(whole, in: &reference)
    }
}
