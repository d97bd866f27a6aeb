extension Space {
    /// Answers a page of the requested rows.
    func list(_ name: String, _ call: Call) throws(Refusal) -> Answer {
        let rows = try rows(of: collections[name]?.all ?? [], for: call)
        let page = try Pager(settings: settings, call: call, rows: rows).page()
        let documents = JSON.array(page.rows.map { $0.document(settings) })
        var answer = Answer(status: 200, json: settings.wrapped(documents, beside: page.members))
        answer.headers.merge(page.headers) { _, own in own }
        return answer
    }

    /// Returns the rows that changed since the requested time, including deleted ones; all existing rows without a
    /// time.
    private func rows(of all: [Row], for call: Call) throws(Refusal) -> [Row] {
        guard let name = settings.since, let text = call.query[name] else { return all.filter { $0.deleted == nil } }
        guard let time = Timestamp.time(text) else { throw Refusal(400, "\(name) is not a time") }
        return all.filter { $0.updated >= time }
    }
}
