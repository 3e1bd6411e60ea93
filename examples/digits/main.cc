// examples/digits/main.cc -- a model written as a lambda learns to read handwritten digits
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <random>

#include <CLI/CLI.hpp>

#include <hom/examples/digits/data.h>
#include <hom/examples/support/plot.h>
#include <hom/examples/support/progress.h>
#include <hom/hom.h>

using namespace hom;

namespace {

struct Affine {
  BOOST_HANA_DEFINE_STRUCT(Affine, (Tensor, weight),  // f32[inputs, outputs]
                           (Tensor, bias));           // f32[outputs]
};

/// A perceptron with one hidden layer.
struct Perceptron {
  BOOST_HANA_DEFINE_STRUCT(Perceptron, (Affine, hidden), (Affine, output));
};

/// The running moments of Adam (D. Kingma and J. Ba, 2015), in the structure of what is trained.
struct Adam {
  BOOST_HANA_DEFINE_STRUCT(Adam, (Perceptron, mean), (Perceptron, variance), (Tensor, step));
};

const auto affine = [](const Affine& p, Tensor x) { return matmul(x, p.weight) + p.bias; };

/// Images f32[n, 64] to scores f32[n, 10].
const auto forward = [](const Perceptron& p, Tensor images) {
  return affine(p.output, relu(affine(p.hidden, images)));
};

const auto loss = [](const Perceptron& p, Tensor images, Tensor labels) {
  return cross_entropy(named("forward", forward)(p, images), labels);
};

/// Uniform in ±√(6/inputs), which keeps the scale of activations through relu (K. He et al., 2015).
Affine initial_affine(const Key& key, std::int64_t inputs, std::int64_t outputs) {
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs));
  return {uniform(key, {inputs, outputs}, -bound, bound), zeros({outputs}, f32)};
}

/// The parameters and moments after one step.
std::pair<Perceptron, Adam> adam_step(const Perceptron& parameters, const Perceptron& gradient,
                                      const Adam& adam, const Tensor& rate) {
  constexpr double decay_mean = 0.9;
  constexpr double decay_variance = 0.999;
  const Tensor step = adam.step + 1;
  const Perceptron mean =
      tree_map([&](Tensor m, Tensor g) { return decay_mean * m + (1 - decay_mean) * g; }, adam.mean,
               gradient);
  const Perceptron variance = tree_map(
      [&](Tensor v, Tensor g) { return decay_variance * v + (1 - decay_variance) * g * g; },
      adam.variance, gradient);
  const Tensor scale_mean = 1 / (1 - pow(decay_mean, step));
  const Tensor scale_variance = 1 / (1 - pow(decay_variance, step));
  const Perceptron updated = tree_map(
      [&](Tensor w, Tensor m, Tensor v) {
        return w - rate * (m * scale_mean) / (sqrt(v * scale_variance) + 1e-8);
      },
      parameters, mean, variance);
  return {updated, {mean, variance, step}};
}

struct Examples {
  BOOST_HANA_DEFINE_STRUCT(Examples, (Tensor, images),  // f32[n, 64]
                           (Tensor, labels));           // i32[n]
};

/// One step on the examples at `rows`: the loss before it, parameters and moments after it.
const auto training_step = [](const Perceptron& parameters, const Adam& adam,
                              const Examples& examples, Tensor rows, Tensor rate) {
  const auto [value, gradient] =
      value_and_grad(loss)(parameters, take(examples.images, rows), take(examples.labels, rows));
  const auto [next, moments] = adam_step(parameters, gradient, adam, rate);
  return std::tuple{value, next, moments};
};

Examples tensors_of(const Digits& digits) {
  return {tensor(digits.pixels, {digits.count, kDigitPixels}),
          tensor(digits.labels, {digits.count})};
}

/// The share of images whose highest score is the right class.
double accuracy(const Perceptron& p, const Examples& examples) {
  const Tensor guess = argmax(forward(p, examples.images), -1);
  return mean((guess == examples.labels).astype(f64)).item();
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share);
  return text;
}

std::string fixed(const char* name, double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%s %.4f", name, value);
  return text;
}

struct Settings {
  std::string out = "out/digits";
  std::string data = "examples/digits/digits.csv.gz";
  std::uint64_t seed = 1;
  std::int64_t hidden = 128;
  std::int64_t epochs = 40;
  std::int64_t batch = 32;
  double rate = 3e-3;
};

Perceptron train(const Settings& settings, const Perceptron& initial, const Examples& examples,
                 Series& curve) {
  Perceptron parameters = initial;
  const auto like_zero = [](Tensor w) { return zeros_like(w); };
  Adam adam{tree_map(like_zero, parameters), tree_map(like_zero, parameters), tensor(0.0f, f32)};
  const std::int64_t count = examples.labels.size();
  const std::int64_t batches = count / settings.batch;
  if (batches == 0) {
    throw Error("--batch " + std::to_string(settings.batch) + " is more than the " +
                std::to_string(count) + " digits to train with");
  }
  const std::int64_t steps = settings.epochs * batches;
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(settings.seed);
  double running_loss = 0;
  double train_accuracy = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto compiled_step = compile(training_step, {.name = "training step"});
  Progress progress("train", steps);
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t batch = step % batches;
    if (batch == 0) {
      // Fisher and Yates with our own division, so that the order is the same with every standard
      // library.
      for (std::size_t i = order.size() - 1; i > 0; --i)
        std::swap(order[i], order[random() % (i + 1)]);
    }
    const auto first = order.begin() + batch * settings.batch;
    const Tensor rows = tensor(std::vector<std::int64_t>(first, first + settings.batch));
    // The rate falls along a half cosine to 0.
    const double phase = static_cast<double>(step) / static_cast<double>(steps);
    const double rate = settings.rate * 0.5 * (1 + std::cos(phase * 3.141592653589793));
    // Gives parameters and moments away, so that the new ones may take their memory.
    auto [value, next, moments] =
        compiled_step(std::move(parameters), std::move(adam), examples, rows, tensor(rate, f32));
    parameters = std::move(next);
    adam = std::move(moments);
    const double current = value.item();
    curve.y.push_back(current);
    running_loss = step == 0 ? current : 0.95 * running_loss + 0.05 * current;
    progress.update(step + 1, [&] {
      train_accuracy = accuracy(parameters, examples);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      const auto speed = static_cast<std::int64_t>(
          static_cast<double>((step + 1) * settings.batch) / elapsed.count());
      return std::vector{fixed("loss", running_loss), "accuracy " + percent(train_accuracy),
                         std::to_string(speed) + " examples/s"};
    });
  }
  progress.finish();
  return parameters;
}

void run(const Settings& settings) {
  const Digits all = read_digits(settings.data);
  Digits train_digits;
  Digits test_digits;
  shuffle_split(all, all.count / 5, settings.seed, &train_digits, &test_digits);
  const Examples train_examples = tensors_of(train_digits);
  const Examples test_examples = tensors_of(test_digits);

  const std::vector<Key> keys = split(key(settings.seed));
  const Perceptron initial{initial_affine(keys[0], kDigitPixels, settings.hidden),
                           initial_affine(keys[1], settings.hidden, kDigitClasses)};

  std::filesystem::create_directories(settings.out);
  const std::string graph_path = settings.out + "/derivative.svg";
  save_svg(graph(value_and_grad(loss), initial, f32[{settings.batch, kDigitPixels}],
                 i32[{settings.batch}]),
           graph_path);

  Series curve{"training loss", {}, {}};
  const Perceptron trained = train(settings, initial, train_examples, curve);
  const std::string plot_path = settings.out + "/loss.svg";
  save_text(plot_path, line_plot({.title = "Learning to read digits",
                                  .x_label = "step",
                                  .y_label = "cross-entropy",
                                  .series = {curve},
                                  .log_y = true}));

  const std::string parameters_path = settings.out + "/parameters.npz";
  save_npz(parameters_path, trained);
  const Perceptron loaded = load_npz(parameters_path, initial);
  for (std::size_t i = 0; i < leaves(trained).size(); ++i) {
    if (!array_equal(leaves(trained)[i], leaves(loaded)[i]))
      throw Error(parameters_path + ": loads other parameters than were saved");
  }

  std::cout << "train accuracy " << percent(accuracy(loaded, train_examples)) << "\n"
            << "test accuracy " << percent(accuracy(loaded, test_examples)) << "\n"
            << "derivative  " << graph_path << "\n"
            << "loss curve  " << plot_path << "\n"
            << "parameters  " << parameters_path << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Trains a perceptron on 1,797 handwritten digits and draws its derivative.");
  app.add_option("--out", settings.out, "folder for pictures and parameters")
      ->capture_default_str();
  app.add_option("--data", settings.data, "gzipped CSV: 64 pixels and the class on each line")
      ->capture_default_str();
  app.add_option("--seed", settings.seed,
                 "of the split, the initial weights and the order of batches")
      ->capture_default_str();
  app.add_option("--hidden", settings.hidden, "hidden units")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--epochs", settings.epochs, "passes over the training digits")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--batch", settings.batch, "digits in a step")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--rate", settings.rate, "learning rate of Adam at the start")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    run(settings);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
