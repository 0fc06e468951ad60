import AfarCSV

/// Randomly generated rows, as written by the csv module of Python 3.11.
enum PythonTables {
    static let all: [(format: CSVFormat, text: String, rows: [[String]])] = [
        (
            CSVFormat(delimiter: ",", quote: "\"", header: .none),
            "\"\"\" 1.5\",\",a\",\r\n,💡,💡;\r\n\"\r\n\r\n1.5\",,#\r\n",
            [["\" 1.5", ",a", ""], ["", "💡", "💡;"], ["\r\n\r\n1.5", "", "#"]]
        ),
        (
            CSVFormat(delimiter: ",", quote: "\"", header: .none),
            "\"\n\r\",\"\r\n',\",a#\r\n;,,\"\r\n\"\r\n",
            [["\n\r", "\r\n',", "a#"], [";", "", "\r\n"]]
        ),
        (
            CSVFormat(delimiter: ",", quote: "\"", header: .none),
            "\"\",\"\",\"a\"\"1.5\"\n\"\",\"\",\"\"\n\"\",\"a;\",\"\n\t\"\n",
            [["", "", "a\"1.5"], ["", "", ""], ["", "a;", "\n\t"]]
        ),
        (
            CSVFormat(delimiter: ",", quote: "\"", header: .none),
            "\"\"\"\",\"\"\"\"\n\"\t\",\"\"\n\"\r\n,\",\";\"\n",
            [["\"", "\""], ["\t", ""], ["\r\n,", ";"]]
        ),
        (
            CSVFormat(delimiter: ";", quote: "'", header: .none),
            " \";;aa\ra;;'ä\r'\r';';\"a;💡=x\r",
            [[" \"", "", "aa"], ["a", "", "ä\r"], [";", "\"a", "💡=x"]]
        ),
        (
            CSVFormat(delimiter: ";", quote: "'", header: .none),
            ";\"\" ;\r;💡ä;=x\r;'1.5💡\r';\r",
            [["", "\"\" ", ""], ["", "💡ä", "=x"], ["", "1.5💡\r", ""]]
        ),
        (
            CSVFormat(delimiter: "\t", quote: "\"", header: .none),
            "\"\t\r\"\t\"1.5\"\t\"ä\"\r\n\"\"\t\"\"\t\"\"\"\"\r\n",
            [["\t\r", "1.5", "ä"], ["", "", "\""]]
        ),
        (
            CSVFormat(delimiter: "\t", quote: "\"", header: .none),
            "\"1.5\"\t\"\r\"\"\"\t\"\"\r\n\"\"\"' \"\t\";\"\t\"\n1.5\r\n\"\r\n",
            [["1.5", "\r\"", ""], ["\"' ", ";", "\n1.5\r\n"]]
        ),
        (
            CSVFormat(delimiter: "|", quote: "\"", header: .none),
            "|\n|\n",
            [["", ""], ["", ""]]
        ),
        (
            CSVFormat(delimiter: "|", quote: "\"", header: .none),
            "a=x||\n|ä=xä|\"'\"\"=x\"\n",
            [["a=x", "", ""], ["", "ä=xä", "'\"=x"]]
        ),
    ]
}
