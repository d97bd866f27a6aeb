import Foundation
import GRDB

struct RegionPayload: Decodable {
    let id: Int64
    let name: String
    let updatedAt: Date
    let stores: [StorePayload]

    enum CodingKeys: String, CodingKey {
        case id, name, stores
        case updatedAt = "updated_at"
    }
}

struct StorePayload: Decodable {
    let id: Int64
    let name: String
    let updatedAt: Date
    let departments: [DepartmentPayload]

    enum CodingKeys: String, CodingKey {
        case id, name, departments
        case updatedAt = "updated_at"
    }
}

struct DepartmentPayload: Decodable {
    let id: Int64
    let name: String
    let updatedAt: Date
    let aisles: [AislePayload]

    enum CodingKeys: String, CodingKey {
        case id, name, aisles
        case updatedAt = "updated_at"
    }
}

struct AislePayload: Decodable {
    let id: Int64
    let name: String
    let updatedAt: Date
    let shelves: [ShelfPayload]

    enum CodingKeys: String, CodingKey {
        case id, name, shelves
        case updatedAt = "updated_at"
    }
}

struct ShelfPayload: Decodable {
    let id: Int64
    let name: String
    let updatedAt: Date
    let products: [ProductPayload]

    enum CodingKeys: String, CodingKey {
        case id, name, products
        case updatedAt = "updated_at"
    }
}

struct ProductPayload: Decodable {
    let id: Int64
    let name: String
    let updatedAt: Date
    let price: Double
    let stock: Int

    enum CodingKeys: String, CodingKey {
        case id, name, price, stock
        case updatedAt = "updated_at"
    }
}

struct Region: StoredRecord {
    let id: Int64
    let name: String
    let updatedAt: Date
}

struct Store: StoredRecord {
    let id: Int64
    let name: String
    let updatedAt: Date
    let regionID: Int64
}

struct Department: StoredRecord {
    let id: Int64
    let name: String
    let updatedAt: Date
    let storeID: Int64
}

struct Aisle: StoredRecord {
    let id: Int64
    let name: String
    let updatedAt: Date
    let departmentID: Int64
}

struct Shelf: StoredRecord {
    let id: Int64
    let name: String
    let updatedAt: Date
    let aisleID: Int64
}

struct Product: StoredRecord {
    let id: Int64
    let name: String
    let updatedAt: Date
    let price: Double
    let stock: Int
    let shelfID: Int64
}
