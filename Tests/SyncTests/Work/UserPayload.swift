import Foundation

/// Users of the model `company`, each with a company, up to four notes and up to three tags.
struct UserPayload {
    /// The IDs of the users.
    var ids: ClosedRange<Int>
    /// The users whose values differ from those of other payloads.
    var changed: Set<Int> = []

    /// The payload as JSON.
    var data: Data { Data("[\(ids.map(user).joined(separator: ","))]".utf8) }

    /// The number of rows and links in a store with this payload: users, companies, notes, tags and their links.
    var rowCount: Int {
        let companies = Set(ids.map(company)).count
        let links = ids.map { tags($0).count }.reduce(0, +)
        return ids.count + companies + ids.map { $0 % 5 }.reduce(0, +) + Set(ids.flatMap(tags)).count + links
    }

    private func company(_ id: Int) -> Int { id % 20 + 1 }

    private func tags(_ id: Int) -> [Int] { (0..<id % 4).map { (id * 7 + $0) % 30 + 1 } }

    private func user(_ id: Int) -> String {
        // Users create notes over time, so the IDs of one user's notes are scattered.
        let notes = (0..<id % 5).map { place in
            let note = (id * 5 + place) * 1237 % 8_000_003
            return #"{"id":\#(note),"text":"Note \#(note)","created_at":"2024-01-10T09:30:00Z"}"#
        }
        let tags = tags(id).map { #"{"id":\#($0),"name":"tag \#($0)"}"# }
        return """
            {"id":\(id),"first_name":"\(changed.contains(id) ? "Changed" : "Ada")","age":\(id % 90),\
            "joined_at":"2023-03-01T08:00:00Z","contact":{"email":"ada.\(id)@example.com"},\
            "company":{"id":\(company(id)),"name":"Company \(company(id))"},\
            "notes":[\(notes.joined(separator: ","))],"tags":[\(tags.joined(separator: ","))]}
            """
    }
}
