import SyncCore
import Testing

@Suite("Inflection")
struct InflectionTests {
    @Test(
        "Names are converted to snake_case",
        arguments: [
            ("age", "age"), ("id", "id"), ("firstName", "first_name"), ("Invoice", "invoice"), ("userID", "user_id"),
            ("userId", "user_id"), ("userIDFirst", "user_id_first"), ("profileURLText", "profile_url_text"),
            ("aURI", "a_uri"), ("line3Text", "line3_text"), ("first_name", "first_name"), ("userIDs", "user_ids"),
            ("memberIDsAdded", "member_ids_added"), ("_id", "_id"), ("", ""),
        ])
    func convertsToSnakeCase(name: String, expected: String) {
        #expect(Inflection.snakeCase(name) == expected)
    }

    @Test(
        "Keys are converted to camelCase",
        arguments: [
            ("age", "age"), ("first_name", "firstName"), ("user_id", "userID"), ("updated_uri", "updatedURI"),
            ("url_path", "urlPath"), ("_id", "id"), ("pdf", "pdf"), ("zip_code", "zipCode"), ("line3", "line3"),
            ("BlueHouse", "blueHouse"), ("firstName", "firstName"), ("is-open", "is-open"),
            ("is_wide-open", "isWideOpen"),
            ("with_two blanks", "withTwoBlanks"), ("no!", "no!"), ("user__id", "userID"), ("ORDER_ID", "orderID"),
        ])
    func convertsToCamelCase(key: String, expected: String) {
        #expect(Inflection.camelCase(key) == expected)
    }

    @Test(
        "Keys that cannot be names have no camelCase form", arguments: ["a_!_b", "user.first_name", "_", "__", "a_#"])
    func invalidNamesHaveNoCamelCase(key: String) {
        #expect(Inflection.camelCase(key) == nil)
        #expect(Inflection.camelCaseVariants(key).isEmpty)
    }

    @Test("Acronyms are tried in capitals and as words")
    func triesAcronymsBothWays() {
        #expect(Inflection.camelCaseVariants("user_id") == ["userID", "userId"])
        #expect(Inflection.camelCaseVariants("first_name") == ["firstName"])
        #expect(Inflection.camelCaseVariants("_id") == ["id"])
        #expect(Inflection.camelCaseVariants("image_url_json") == ["imageURLJSON", "imageUrlJson"])
    }

    @Test("Every acronym converts to snake_case and back", arguments: Inflection.acronyms.sorted())
    func acronymsRoundTrip(acronym: String) {
        let name = "item" + acronym.uppercased()
        #expect(Inflection.snakeCase(name) == "item_\(acronym)")
        #expect(Inflection.camelCase("item_\(acronym)") == name)
    }

    @Test(
        "Plurals become singular",
        arguments: [
            ("tags", "tag"), ("companies", "company"), ("addresses", "address"), ("boxes", "box"),
            ("classes", "class"), ("branches", "branch"), ("wishes", "wish"), ("sizes", "size"), ("houses", "house"),
            ("images", "image"), ("statuses", "status"), ("children", "child"), ("people", "person"),
            ("movies", "movie"), ("parties", "party"), ("ties", "tie"), ("homeAddresses", "homeAddress"),
            ("super_heroes", "super_hero"), ("favouriteMovies", "favouriteMovie"), ("Children", "Child"),
            ("tvSeries", "tvSeries"),
        ])
    func makesPluralsSingular(plural: String, expected: String) {
        #expect(Inflection.singular(plural) == expected)
    }

    @Test(
        "Words that are not plurals stay unchanged",
        arguments: ["status", "address", "analysis", "child", "tag", "news", "series", ""])
    func keepsOtherWords(word: String) {
        #expect(Inflection.singular(word) == word)
    }
}
