//! What is published about the arrays of a trace follows from the program's own tables: the lists of arrays and axes in
//! docs/formats/traces.md, arrays and words of the JSON Schema, and the arrays that the Python module knows. The tasks that
//! it knows follow from the tables of keys, the layouts of docs/formats/presets.md from the sources of the tasks.
//! The tensors of a machine are those that docs/formats/weights.md lists, with their formulas reckoned out.
//!
//! `UPDATE_TABLES=1 cargo test --test library` writes what the table says now into those files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tapescope::analysis::expression::{FUNCTIONS, Function};
use tapescope::io::preset::{self, FAMILY, FAMILY_ABOUT, Mechanism, UNCERTAINTY};
use tapescope::io::trace::{self, Listed};
use tapescope::io::weights;
use tapescope::keys::{Choice, Keys, Table, Words};
use tapescope::math::Answer;
use tapescope::model::config::{ControllerKind, InitialMemory, InitialWeighting};
use tapescope::model::{
    AXES, Axis, DncConfig, ModelConfig, NoiseMode, NtmConfig, Range, SamConfig, Scoring,
};
use tapescope::task::Task;
use tapescope::train::Ending;

/// What stands in a file between the line that begins with `first` and the next one that is `last` is `wanted`.
pub(super) fn held(file: &str, first: &str, last: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let found = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = found.lines().collect();
    let start = lines.iter().position(|line| line.starts_with(first));
    let start = start.unwrap_or_else(|| panic!("{file} has no line `{first}`")) + 1;
    let rest = lines[start..].iter().position(|line| *line == last);
    let end = start + rest.unwrap_or_else(|| panic!("{file} has no line `{last}`"));
    if lines[start..end].join("\n") == wanted {
        return;
    }
    if std::env::var_os("UPDATE_TABLES").is_some() {
        let whole = [&lines[..start], &[wanted], &lines[end..]].concat();
        fs::write(path, whole.join("\n") + "\n").unwrap();
        return;
    }
    panic!(
        "{file} is not what the table says; `UPDATE_TABLES=1 cargo test --test library` mends it:\n{wanted}"
    );
}

#[test]
fn the_page_lists_every_array() {
    let row = |array: &Listed| {
        let spec = array.spec;
        let dims = spec.dims.join(" ");
        let dims = match (array.heads.as_slice(), dims.replace(" l ", " ")) {
            ([kind], _) => format!("{dims}; {kind} heads"),
            (_, one) if one != dims => format!("{one}, or {dims} with several layers"),
            _ => dims,
        };
        let symbol = if spec.symbol.is_empty() {
            "–"
        } else {
            spec.symbol
        };
        let values = match spec.range {
            Range::Any => "any".to_owned(),
            Range::Learned(_) => "any, learned".to_owned(),
            Range::Normal => "noise, normal with mean 0 and variance 1".to_owned(),
            Range::AtLeast(least) => format!("{least} or more"),
            Range::Row | Range::Rows => "row numbers".to_owned(),
            Range::Within(least, most) => format!("{least} to {most}"),
            Range::Distribution => "probabilities, sum 1".to_owned(),
            Range::Uniform => "noise, uniform in 0 to 1".to_owned(),
        };
        let (name, made) = (&array.name, spec.equation);
        format!("| `{name}` | {dims} | {symbol} | {values} | {made} |")
    };
    let rows: Vec<_> = trace::arrays().iter().map(row).collect();
    let rows = ["|---|---|---|---|---|".to_owned(), rows.join("\n")].join("\n");
    held("docs/formats/traces.md", "| array | dims |", "", &rows);
}

#[test]
fn the_page_lists_every_function() {
    let row = |function: &Function| {
        let call = function.call();
        let result = function.result.to_string();
        let result = result.trim_start_matches("a ");
        format!("| `{call}` | {result} | {} |", function.about)
    };
    let rows = FUNCTIONS.iter().map(row);
    let rows: Vec<_> = std::iter::once("|---|---|---|".to_owned())
        .chain(rows)
        .collect();
    held(
        "docs/expressions.md",
        "| function | result |",
        "",
        &rows.join("\n"),
    );
}

/// The file name of the picture of a mechanism.
fn picture(of: &Mechanism) -> String {
    let name = of.name.to_lowercase().replace([',', '(', ')'], "");
    format!("{}.svg", name.replace(' ', "-"))
}

/// The address of a paper.
fn address(number: &str) -> String {
    let arxiv = number.replace("arXiv:", "https://arxiv.org/abs/");
    arxiv.replace("doi:", "https://doi.org/")
}

/// The command that draws the picture of a mechanism.
fn drawing(of: &Mechanism) -> String {
    let mut words = vec!["tapescope render".to_owned()];
    for (name, value) in of.link.split('&').filter_map(|pair| pair.split_once('=')) {
        match name {
            "machine" => words.push(value.to_owned()),
            "step" | "stage" | "head" => {}
            _ => words.push(format!("--{name} {value}")),
        }
    }
    if !of.picture.contains("--layout") {
        words.push("--layout weightings".to_owned());
    }
    if !of.picture.is_empty() {
        words.push(of.picture.to_owned());
    }
    if !of.picture.contains("--size") {
        words.push("--size 420x190".to_owned());
    }
    words.push(format!("--out docs/attention/{}", picture(of)));
    words.join(" ")
}

#[test]
fn the_attention_page_shows_every_mechanism() {
    let mut lines = vec![String::new(), FAMILY_ABOUT.to_owned(), String::new()];
    for group in &FAMILY {
        lines.extend([format!("## {}", group.title), String::new()]);
        lines.extend([group.about.to_owned(), String::new()]);
        lines.push("| picture | mechanism |\n|---|---|".to_owned());
        for of in group.mechanisms {
            let (file, machine) = (picture(of), of.machine());
            let (paper, place) = of.paper.split_once(", ").unwrap();
            let words = [
                format!("**{}**", of.name),
                format!("`{}`", of.equation),
                of.purpose.to_owned(),
                format!("[{paper}]({}), {place}", address(of.number)),
                format!("`tapescope view --link '{}'`", of.link),
            ];
            let words = words.join("<br>");
            let name = format!("{} ({machine})", of.name);
            lines.push(format!("| ![{name}](attention/{file}) | {words} |"));
            let drawn = fs::read_to_string(format!("docs/attention/{file}"));
            assert!(drawn.is_ok(), "missing; run: {}", drawing(of));
        }
        lines.push(String::new());
    }
    lines.extend(["## The pictures".to_owned(), String::new()]);
    let words = "These commands draw the pictures above, in the folder of the source:\n\n```";
    lines.push(words.to_owned());
    let all = FAMILY.iter().flat_map(|group| group.mechanisms);
    lines.extend(all.map(drawing));
    lines.push("```".to_owned());
    let (first, last) = ("<!-- the table of mechanisms -->", "<!-- its end -->");
    held("docs/attention.md", first, last, &lines.join("\n"));
}

#[test]
fn the_uncertainty_page_opens_every_example_of_the_window() {
    let page = fs::read_to_string("docs/uncertainty.md").unwrap();
    for of in UNCERTAINTY.mechanisms {
        let view = format!("`tapescope view --link '{}'`", of.link);
        assert!(page.contains(&view), "docs/uncertainty.md has not {view}");
    }
}

#[test]
fn every_axis_is_on_the_page() {
    for array in trace::arrays() {
        for axis in array.spec.dims {
            assert!(Axis::named(axis).is_some(), "{}: {axis}", array.name);
        }
    }
    let row = |axis: &Axis| format!("| {} | {} |", axis.name, axis.meaning);
    let rows: Vec<_> = AXES.iter().map(row).collect();
    let rows = ["|---|---|".to_owned(), rows.join("\n")].join("\n");
    held("docs/formats/traces.md", "| axis | |", "", &rows);
}

#[test]
fn the_page_has_the_layout_of_every_task() {
    let names = Task::WORDS.iter().map(|(name, _)| *name);
    for name in names.filter(|name| *name != "episodes") {
        let source = fs::read_to_string(format!("src/core/task/{name}.rs")).unwrap();
        let lines = source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line));
        let picture = lines
            .skip_while(|line| *line != "```text")
            .skip(1)
            .take_while(|line| *line != "```");
        let picture = picture.collect::<Vec<_>>().join("\n");
        assert!(picture.lines().count() > 2, "{name}");
        let page = "docs/formats/presets.md";
        let block = format!("```text\n{picture}\n```");
        held(page, &format!("<!--{name}-->"), "", &block);
    }
}

/// A pair of a JSON object, on a line of its own.
fn entry(key: &str, value: &Value) -> String {
    format!("        {}: {value}", json!(key))
}

#[test]
fn the_schema_has_every_array() {
    let reference = |axes: usize| json!({"$ref": format!("#/$defs/array{axes}")});
    let arrays = trace::arrays();
    let (heads, others): (Vec<_>, Vec<_>) =
        arrays.iter().partition(|array| !array.heads.is_empty());
    let others = others.iter().map(|array| {
        let axes = array.spec.dims.len();
        let value = if array.spec.dims.contains(&"l") {
            json!({"anyOf": [reference(axes - 1), reference(axes)]})
        } else {
            reference(axes)
        };
        entry(&array.name, &value)
    });
    let heads = heads.iter().map(|array| {
        let pattern = format!("^({})[0-9]+\\.{}$", array.heads.join("|"), array.spec.name);
        entry(&pattern, &reference(array.spec.dims.len()))
    });
    let derivatives = entry("^gradient\\..+$", &json!({"$ref": "#/$defs/array"}));
    let heads = heads.chain([derivatives]);
    let (others, heads): (Vec<_>, Vec<_>) = (others.collect(), heads.collect());
    let needed = arrays
        .iter()
        .filter(|array| array.heads.is_empty() && trace::is_needed(array.spec));
    let needed: Vec<_> = needed.map(|array| &array.name).collect();
    let lines = [
        "      \"type\": \"object\",".to_owned(),
        format!("      \"required\": {},", json!(needed)),
        "      \"properties\": {".to_owned(),
        others.join(",\n"),
        "      },".to_owned(),
        "      \"patternProperties\": {".to_owned(),
        heads.join(",\n"),
        "      }".to_owned(),
    ];
    let file = "docs/ntm-trace-2.0.schema.json";
    held(file, "    \"arrays\": {", "    }", &lines.join("\n"));
}

/// The paths of the leaves of a schema's object.
fn leaves(schema: &Value, at: &str, to: &mut BTreeSet<String>) {
    for (key, value) in schema["properties"].as_object().unwrap() {
        let path = format!("{at}.{key}");
        if value["properties"].is_object() {
            leaves(value, &path, to);
        } else {
            to.insert(path);
        }
    }
}

#[test]
fn the_schema_has_every_key_of_a_model() {
    let schema = fs::read_to_string("docs/ntm-trace-2.0.schema.json").unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut keys = BTreeSet::new();
    leaves(&schema["properties"]["model"], "model", &mut keys);
    let table = preset::table();
    let of_preset = table.lines().filter_map(|row| row.split('`').nth(1));
    let of_preset = of_preset.filter(|path| path.starts_with("model."));
    // A machine file says which keys these sections have.
    keys.retain(|key| !["model.sizes", "model.switches", "model.constants"].contains(&&**key));
    assert_eq!(keys, of_preset.map(str::to_owned).collect());
}

/// The words that a schema allows for a value, or for each value of its list.
fn words(of: &Value) -> Vec<&str> {
    let either = of["anyOf"].as_array().map_or(vec![], |all| {
        let list = words(&all[1]["items"]);
        assert_eq!(words(&all[0]), list);
        list
    });
    let own = of["enum"].as_array().into_iter().flatten();
    own.filter_map(Value::as_str).chain(either).collect()
}

fn names<T: Words>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

#[test]
fn the_schema_has_the_words_of_every_choice() {
    let schema = fs::read_to_string("docs/ntm-trace-2.0.schema.json").unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let model = &schema["properties"]["model"]["properties"];
    let table = preset::table();
    let mut count = 0;
    for row in table.lines().filter(|row| row.starts_with("| `model.")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let path = cells[0].trim_matches(['|', ' ', '`']);
        let is_choice = cells[3].starts_with('`') && !cells[3].contains("constant");
        let allowed = cells[3].split('`').skip(1).step_by(2);
        let allowed = allowed.filter(|_| is_choice);
        let keys = path.split('.').skip(1).collect::<Vec<_>>();
        let value = keys
            .iter()
            .skip(1)
            .fold(&model[keys[0]], |value, key| &value["properties"][key]);
        count += usize::from(is_choice);
        assert_eq!(words(value), allowed.collect::<Vec<_>>(), "{path}");
    }
    assert!(count > 10);
    for (key, names) in [
        ("sampling", names::<NoiseMode>()),
        ("answer", names::<Answer>()),
        ("ended", names::<Ending>()),
    ] {
        let found = schema.pointer(&format!("/properties/task/properties/{key}"));
        assert_eq!(words(found.unwrap()), names, "{key}");
    }
}

#[test]
fn every_word_of_a_similarity_is_on_the_page_and_in_the_schema() {
    let page = include_str!("../../docs/formats/traces.md");
    let schema = include_str!("../../docs/ntm-trace-2.0.schema.json");
    let recorder = include_str!("../../python/tapescope/recorder.py");
    for (word, _) in Scoring::WORDS {
        assert!(page.contains(&format!("| `{word}` |")), "{word}");
        assert!(schema.contains(&format!("\"{word}\"")), "{word}");
        assert!(recorder.contains(&format!("\"{word}\"")), "{word}");
    }
}

#[test]
fn the_python_module_knows_every_array() {
    let line = |array: &Listed| {
        let (least, most) = array.spec.range.ends();
        // A head that is recorded has a key as long as a row.
        let dims = array.spec.dims.iter();
        let is_row = |axis| axis == "k" || (axis, array.spec.name) == ("r", "read");
        let dims = dims.map(|&axis| if is_row(axis) { "m" } else { axis });
        let end = |value: f32| value.is_finite().then_some(value);
        let value = json!({
            "name": array.spec.name,
            "heads": array.heads,
            "dims": dims.collect::<Vec<_>>(),
            "least": end(least),
            "most": end(most),
            "shares": array.spec.range == Range::Distribution,
        });
        format!("  {value}")
    };
    let lines: Vec<_> = trace::arrays().iter().map(line).collect();
    held("python/tapescope/arrays.json", "[", "]", &lines.join(",\n"));
}

#[test]
fn the_python_module_knows_every_task() {
    let line = |(name, task): &(&str, Task)| {
        let mut sizes = Vec::new();
        Keys::keys(
            &mut task.clone(),
            &mut Table::new(&mut |key| {
                if ["length", "items", "repeats"].contains(&key.path) {
                    sizes.push(key.path.to_owned());
                }
            }),
        );
        let value = json!({"task": name, "answer": task.answer().word(), "sizes": sizes});
        format!("  {value}")
    };
    let lines: Vec<_> = Task::WORDS.iter().map(line).collect();
    held("python/tapescope/tasks.json", "[", "]", &lines.join(",\n"));
}

/// The tensors in a row of the page, of a machine with these values of the letters there and these numbers of controller
/// layers, read heads and write heads.
fn tensors(
    row: &str,
    letters: &[(&str, usize)],
    [layers, reads, writes]: [usize; 3],
) -> Vec<(String, Vec<usize>)> {
    let letter = |letter: &str| {
        let known = letters.iter().find(|known| known.0 == letter);
        known.map_or(1, |known| known.1)
    };
    let product = |factors: &str| {
        let letters = factors.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = &factors[..factors.len() - letters.len()];
        let letters: usize = letters.split('·').map(letter).product();
        number.parse().unwrap_or(1) * letters
    };
    let sum = |terms: &str| -> usize { terms.split(" + ").map(product).sum() };
    let cells: Vec<&str> = row.split(" | ").collect();
    let shape = cells[1].trim_matches(['[', ']']).split(", ").map(sum);
    let shape: Vec<usize> = shape.collect();
    let mut tensors = Vec::new();
    for name in cells[0].split('`').skip(1).step_by(2) {
        let (kind, rest) = name.split_once('.').unwrap();
        let (kind, first) = kind.split_at(kind.find(['0', '1']).unwrap_or(kind.len()));
        let first: usize = first.parse().unwrap_or(0);
        let end = match kind {
            "controller" if cells[0].ends_with('…') => layers,
            "read" => reads,
            "write" => writes,
            _ => first + 1,
        };
        tensors.extend((first..end).map(|index| match kind {
            "controller" | "read" | "write" => (format!("{kind}{index}.{rest}"), shape.clone()),
            _ => (name.to_owned(), shape.clone()),
        }));
    }
    tensors.retain(|(_, shape)| !shape.contains(&0));
    tensors
}

#[test]
fn the_page_lists_every_tensor() {
    let page = include_str!("../../docs/formats/weights.md");
    let (_, rows) = page
        .split_once("| tensor | shape | |\n|---|---|---|\n")
        .unwrap();
    let (lstm, below) = rows.split_once("\n\n").unwrap();
    let told = "A feedforward controller has no h of its own among its inputs, and C outputs instead of 4C.";
    assert!(below.starts_with(told), "{below}");
    let feedforward = lstm.replace(" + C, 4C]", ", C]").replace("[4C]", "[C]");
    for (rows, kind) in [
        (lstm, ControllerKind::Lstm),
        (&feedforward, ControllerKind::Feedforward),
    ] {
        for (heads, is_learned) in [
            ([2, 3], true),
            ([2, 3], false),
            ([1, 0], true),
            ([0, 1], true),
        ] {
            let mut ntm = NtmConfig::new(5, 4);
            (ntm.rows, ntm.columns, ntm.shift_range) = (31, 7, 2);
            (
                ntm.controller.size,
                ntm.controller.layers,
                ntm.controller.kind,
            ) = (13, 3, kind);
            [ntm.read_heads, ntm.write_heads] = heads;
            if is_learned {
                ntm.initial_memory = InitialMemory::Learned;
                ntm.initial_weighting = InitialWeighting::Learned;
            }
            let is_there = |row: &&str| {
                (kind == ControllerKind::Lstm || !row.ends_with("only with an LSTM |"))
                    && (is_learned || !row.contains("\"learned\""))
            };
            let rows = rows.lines().filter(is_there);
            let [reads, writes] = heads;
            let letters = [
                ("C", 13),
                ("L", 3),
                ("M", 7),
                ("N", 31),
                ("R", reads),
                ("S", 5),
                ("W", writes),
                ("X", 5),
                ("Y", 4),
            ];
            let told = rows.flat_map(|row| tensors(row, &letters, [3, reads, writes]));
            let told: BTreeSet<_> = told.collect();
            let shapes = weights::shapes(&ntm.into()).into_iter();
            // A bias has one axis in a file.
            let shapes = shapes.map(|(name, shape)| {
                let axes = usize::from(name.contains(".bias"));
                (name, shape[axes..].to_vec())
            });
            assert_eq!(shapes.collect::<BTreeSet<_>>(), told);
        }
    }
}

#[test]
fn the_page_lists_every_tensor_of_the_sparse_and_the_differentiable_machine() {
    let page = include_str!("../../docs/formats/weights.md");
    let mut dnc = DncConfig::new(5, 4);
    (dnc.rows, dnc.columns, dnc.read_heads) = (31, 7, 3);
    let mut sam = SamConfig::new(5, 4);
    (sam.rows, sam.columns, sam.heads) = (31, 7, 3);
    sam.initial_memory = InitialMemory::Learned;
    (dnc.controller.size, sam.controller.size) = (13, 13);
    let shared = [("C", 13), ("N", 31), ("X", 5), ("Y", 4)];
    for (title, config, letters, writes) in [
        (
            "Differentiable Neural Computer",
            ModelConfig::from(dnc),
            [("R", 3), ("W", 7)],
            1,
        ),
        ("Sparse access memory", sam.into(), [("H", 3), ("M", 7)], 3),
    ] {
        let (_, below) = page.split_once(&format!("\n## {title}\n")).unwrap();
        let (_, rows) = below.split_once("|---|---|---|\n").unwrap();
        let (rows, _) = rows.split_once("\n\n").unwrap();
        let letters = [&shared[..], &letters].concat();
        let told = rows
            .lines()
            .flat_map(|row| tensors(row, &letters, [1, 3, writes]));
        let mut told: BTreeSet<_> = told.collect();
        // The text says these.
        for (name, shape) in told.clone() {
            let bias = name
                .strip_suffix(".weight")
                .map(|name| format!("{name}.bias"));
            told.extend(bias.map(|bias| (bias, shape[1..].to_vec())));
        }
        told.extend(["initial.hidden", "initial.cell"].map(|name| (name.to_owned(), vec![1, 13])));
        let shapes = weights::shapes(&config).into_iter();
        let shapes = shapes.map(|(name, shape)| {
            let axes = usize::from(name.contains(".bias"));
            (name, shape[axes..].to_vec())
        });
        assert_eq!(shapes.collect::<BTreeSet<_>>(), told, "{title}");
    }
}

#[test]
fn the_page_lists_what_is_recomputed() {
    let page = include_str!("../../docs/formats/traces.md");
    let (_, told) = page
        .split_once("`tapescope verify TRACE` recomputes")
        .unwrap();
    let (told, _) = told.split_once("\n\n").unwrap();
    let all = trace::recomputed();
    assert!(all.contains(&"centre") && all.contains(&"memory"));
    for array in all {
        assert!(told.contains(&format!("`{array}`")), "{array}");
    }
}

#[test]
fn the_page_lists_every_tensor_of_attention_mechanisms() {
    let page = include_str!("../../docs/formats/weights.md");
    let (_, rows) = page
        .split_once("| tensor | shape | with |\n|---|---|---|\n")
        .unwrap();
    let (rows, _) = rows.split_once("\n\n").unwrap();
    let mut ntm = NtmConfig::with_every_mechanism();
    (ntm.rows, ntm.columns, ntm.attention.units) = (31, 7, 5);
    let of = &mut ntm.attention.parameters;
    (of.position_units, of.prior_units) = (6, 4);
    let letter = |letter: &str| match letter {
        "N" => 31,
        "M" => 7,
        "A" => 5,
        "P" => 6,
        "H" => 4,
        number => number.parse().unwrap(),
    };
    let told: BTreeSet<_> = rows
        .lines()
        .flat_map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            let shape = cells[1].trim_matches(['[', ']']).split(", ").map(letter);
            let shape: Vec<usize> = shape.collect();
            let names = cells[0].split('`').skip(1).step_by(2);
            let names = names.map(|name| name.strip_prefix("read0.").unwrap().to_owned());
            names
                .map(move |name| (name, shape.clone()))
                .collect::<Vec<_>>()
        })
        .collect();
    let shapes = weights::shapes(&ntm.into()).into_iter();
    let learned = shapes.filter_map(|(name, shape)| {
        let (head, part) = name.split_once('.')?;
        let is_head = head.starts_with("read") || head.starts_with("write");
        let is_own = is_head && !["weight", "bias"].contains(&part);
        is_own.then(|| (part.to_owned(), shape.to_vec()))
    });
    assert_eq!(learned.collect::<BTreeSet<_>>(), told);
}
