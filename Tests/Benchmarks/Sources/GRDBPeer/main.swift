import Foundation
import GRDB

// Imports a payload as an app without Sync does: decodes it with `Codable`, and writes the records one by one with
// GRDB.
//
//     grdb-peer upsert|compare users|documents|regions PAYLOAD DATABASE
//
// `upsert` writes each record. `compare` fetches the stored record first, and writes only if it differs. Both delete
// rows that the payload omits. The tables of the database must exist.

let arguments = CommandLine.arguments
guard arguments.count == 5, let way = WayOfWriting(rawValue: arguments[1]) else {
    FileHandle.standardError.write(
        Data("usage: grdb-peer upsert|compare users|documents|regions PAYLOAD DATABASE\n".utf8))
    exit(2)
}
let payload = try Data(contentsOf: URL(fileURLWithPath: arguments[3]))
let decoder = JSONDecoder()
decoder.dateDecodingStrategy = .iso8601

let database = try DatabasePool(path: arguments[4])
try database.write { db in
    let writer = RecordWriter(db: db, way: way)
    switch arguments[2] {
    case "users": try writer.write(users: decoder.decode([UserPayload].self, from: payload))
    case "documents": try writer.write(documents: decoder.decode([DocumentPayload].self, from: payload))
    case "regions": try writer.write(regions: decoder.decode([RegionPayload].self, from: payload))
    default: throw DatabaseError(message: "no workload '\(arguments[2])'")
    }
}
