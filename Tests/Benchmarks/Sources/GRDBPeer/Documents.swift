import Foundation
import GRDB

struct DocumentPayload: Decodable {
    let id: UUID
    let title, state: String
    let priority: Int
    let amount: Double
    let archived: Bool
    let createdAt: Date
    let author: Author

    enum CodingKeys: String, CodingKey {
        case id, title, state, priority, amount, archived
        case createdAt = "created_at"
        case author
    }
}

struct Document: StoredRecord {
    let id: UUID
    let title, state: String
    let priority: Int
    let amount: Double
    let archived: Bool
    let createdAt: Date
    let authorID: UUID

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy { .uppercaseString }
}

struct Author: StoredRecord {
    let id: UUID
    let name: String

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy { .uppercaseString }
}

extension RecordWriter {
    func write(documents: [DocumentPayload]) throws {
        var authors: Set<UUID> = []
        for document in documents {
            if authors.insert(document.author.id).inserted { try put(document.author) }
            try put(
                Document(
                    id: document.id, title: document.title, state: document.state, priority: document.priority,
                    amount: document.amount, archived: document.archived, createdAt: document.createdAt,
                    authorID: document.author.id))
        }
        try deleteMissing(Document.self, except: Set(documents.map(\.id)))
    }
}
