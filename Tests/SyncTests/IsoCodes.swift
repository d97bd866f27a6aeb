import Foundation
import Sync
import Testing

/// One of the lists that Debian's package `iso-codes` installs.
struct IsoCodes: Sendable, CustomTestStringConvertible {
    /// The name of the list: the part of the file's name after `iso_`, and the key of the list inside the file.
    var list: String
    var entity: String
    /// The remote key of the primary key.
    var key: String
    /// The column of each JSON key of the list.
    var columns: [String: String]
    var testDescription: String { list }

    static let countries = IsoCodes(
        list: "3166-1", entity: "Country", key: "alpha_2",
        columns: [
            "alpha_2": "alpha2", "alpha_3": "alpha3", "numeric": "numeric", "name": "name",
            "official_name": "officialName", "common_name": "commonName", "flag": "flag",
        ])
    static let languages = IsoCodes(
        list: "639-3", entity: "Language", key: "alpha_3",
        columns: [
            "alpha_3": "alpha3", "alpha_2": "alpha2", "bibliographic": "bibliographic", "name": "name",
            "common_name": "commonName", "inverted_name": "invertedName", "scope": "scope", "type": "type",
        ])
    static let currencies = IsoCodes(
        list: "4217", entity: "Currency", key: "alpha_3",
        columns: ["alpha_3": "alpha3", "name": "name", "numeric": "numeric"])
    /// With `country` and the full `parent`, which `completed` adds.
    static let subdivisions = IsoCodes(
        list: "3166-2", entity: "Subdivision", key: "code",
        columns: [
            "code": "code", "name": "name", "type": "type", "country": "countryID", "parent": "parentID",
        ])

    /// The records are inside an object, under the list's name.
    var options: SyncOptions {
        var options = SyncOptions()
        options.keyPath = [list]
        return options
    }

    /// Returns the content of the file.
    func file(in folder: String = "/usr/share/iso-codes/json") throws -> Data {
        let url = URL(fileURLWithPath: folder).appendingPathComponent("iso_\(list).json")
        do {
            return try Data(contentsOf: url)
        } catch {
            throw MissingIsoCodes(file: url.path)
        }
    }

    /// Returns the records as Foundation parses them. Those of subdivisions are completed.
    func records() throws -> [[String: String]] {
        let root = try JSONSerialization.jsonObject(with: file()) as? [String: [[String: String]]]
        guard let records = root?[list] else { throw MissingIsoCodes(file: "the list \(list)") }
        return entity == "Subdivision" ? records.map(Self.completed) : records
    }

    /// Returns the payload of a sync: the file, or the completed records of subdivisions.
    func payload() throws -> Data {
        try entity == "Subdivision" ? payload(records()) : file()
    }

    func payload(_ records: [[String: Any]]) throws -> Data {
        try JSONSerialization.data(withJSONObject: [list: records])
    }

    /// Adds the country, which is the first part of the code, and the full code of the parent. Some countries give the
    /// parent's code without the country (`NX` means `AZ-NX` in a record of Azerbaijan).
    private static func completed(_ record: [String: String]) -> [String: String] {
        guard let code = record["code"] else { return record }
        let country = String(code.prefix { $0 != "-" })
        var record = record
        record["country"] = country
        if let parent = record["parent"], !parent.contains("-") { record["parent"] = "\(country)-\(parent)" }
        return record
    }
}

/// The package `iso-codes` is not installed, or its files have changed.
struct MissingIsoCodes: Error, CustomStringConvertible {
    var file: String
    var description: String { "\(file) is missing: 'make test' installs the package iso-codes" }
}
