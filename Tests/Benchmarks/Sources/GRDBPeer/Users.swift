import Foundation
import GRDB

struct UserPayload: Decodable {
    let id: Int64
    let firstName, lastName, email: String
    let age: Int
    let score: Double
    let active: Bool
    let createdAt, updatedAt: Date
    let company: Company
    let notes: [NotePayload]
    let tagIDs: [Int64]

    enum CodingKeys: String, CodingKey {
        case id
        case firstName = "first_name"
        case lastName = "last_name"
        case email, age, score, active
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case company, notes
        case tagIDs = "tags_ids"
    }
}

struct NotePayload: Decodable {
    let id: Int64
    let text: String
    let createdAt: Date

    enum CodingKeys: String, CodingKey {
        case id, text
        case createdAt = "created_at"
    }
}

struct User: StoredRecord {
    let id: Int64
    let firstName, lastName, email: String
    let age: Int
    let score: Double
    let active: Bool
    let createdAt, updatedAt: Date
    let companyID: Int64
}

struct Company: StoredRecord {
    let id: Int64
    let name: String
}

struct Note: StoredRecord {
    let id: Int64
    let text: String
    let createdAt: Date
    let userID: Int64
}

struct TagOfUser: Codable, FetchableRecord, Hashable, PersistableRecord {
    static let databaseTableName = "Tag_users"
    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .ignore, update: .ignore)

    let tagID: Int64
    let userID: Int64
}

extension RecordWriter {
    func write(users: [UserPayload]) throws {
        var companies: Set<Int64> = []
        var kept: Set<Int64> = []
        var keptNotes: Set<Int64> = []
        var keptTags: Set<TagOfUser> = []
        for user in users {
            if companies.insert(user.company.id).inserted { try put(user.company) }
            try put(User(user))
            kept.insert(user.id)
            for note in user.notes {
                try put(Note(id: note.id, text: note.text, createdAt: note.createdAt, userID: user.id))
                keptNotes.insert(note.id)
            }
            let tags = user.tagIDs.map { TagOfUser(tagID: $0, userID: user.id) }
            try put(tags, of: user.id)
            keptTags.formUnion(tags)
        }
        try deleteMissing(Note.self, except: keptNotes)
        try deleteMissing(User.self, except: kept)
        for tag in try TagOfUser.fetchSet(db).subtracting(keptTags) {
            try db.execute(
                literal: "DELETE FROM Tag_users WHERE tagID = \(tag.tagID) AND userID = \(tag.userID)")
        }
    }

    private func put(_ tags: [TagOfUser], of user: Int64) throws {
        guard way == .compare else { return try tags.forEach { try $0.insert(db) } }
        let stored = try TagOfUser.filter(Column("userID") == user).fetchSet(db)
        for tag in tags where !stored.contains(tag) { try tag.insert(db) }
    }
}

extension User {
    init(_ user: UserPayload) {
        self.init(
            id: user.id, firstName: user.firstName, lastName: user.lastName, email: user.email, age: user.age,
            score: user.score, active: user.active, createdAt: user.createdAt, updatedAt: user.updatedAt,
            companyID: user.company.id)
    }
}
